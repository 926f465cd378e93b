import CRaceLab
import Foundation

extension Exploration {
    /// What an exploration that has reached a bound has covered.
    struct Covered: Hashable, Codable, Sendable {
        let share: Double?
        let beginning: Schedule?
        let preemptions: Int?
        /// The names of the two places that have led to the most alternatives.
        let places: [String]

        init(_ progress: SearchProgress) {
            share = progress.share
            beginning = progress.beginning.map(Schedule.init(choicesOfEngine:))
            preemptions = progress.preemptions
            places =
                progress.places.map { first, second in
                    let sites = Symbols.sites(of: [first, second])
                    return [first, second].map { Site.name(sites[$0]) }
                } ?? []
        }
    }

    /// If a bound was reached: what was covered, and what can be done. Otherwise empty.
    public var coverageSentences: [String] {
        guard let covered = result.covered else { return [] }
        var sentences: [String] = []
        if let share = covered.share {
            let percent =
                share < 0.01 ? "less than 1 %" : "about \(Int((share * 100).rounded(.down))) %"
            sentences.append(
                "that is \(percent) of all, estimated from the shape of the part that was explored")
        }
        if let beginning = covered.beginning {
            sentences.append(
                "complete: all interleavings that begin with \(beginning.text(threads: threads))")
        }
        switch covered.preemptions {
        case nil, 0?: break
        case 1?: sentences.append("complete: all interleavings without a preemption")
        case 2?: sentences.append("complete: all interleavings with at most one preemption")
        case let count?:
            sentences.append("complete: all interleavings with at most \(count - 1) preemptions")
        }
        if covered.places.count == 2 {
            let (first, second) = (covered.places[0], covered.places[1])
            sentences.append(
                "most alternatives come from \(first)" + (first == second ? "" : " and \(second)"))
        }
        return sentences + [
            "to learn more: fewer threads or calls, a preemptionBound, a strategy that draws samples, "
                + "or a higher limit"
        ]
    }

    /// What interleavings drawn at random have shown about the scenario.
    struct Sample: Hashable, Codable, Sendable {
        /// The most threads in an interleaving, and the most steps.
        let threads: Int
        let steps: Int
    }

    /// How the interleavings were drawn, and what is known about what was not drawn. Empty if
    /// nothing was.
    public var samplingSentences: [String] {
        guard let sample = result.sample, case .sampled(let method, _, let seed) = options.strategy
        else { return [] }
        let bound = options.preemptionBound.map { ", with at most \($0) preemptions" } ?? ""
        let how = "drawn by: \(method); seed \(seed)\(bound)"
        return [how, wordsOnChance(sample, method)].compactMap { $0 }
    }

    private func wordsOnChance(_ sample: Sample, _ method: Options.Sampling) -> String? {
        guard failing == 0, explored > 1 else { return nil }
        // The first execution is not drawn. If a share p of those that are drawn so fails, n of
        // them miss it with a probability of (1 - p)ⁿ.
        let drawn = Double(explored - 1)
        let share = 1 - pow(0.05, 1 / drawn)
        var words =
            "an execution drawn in this way fails in less than \(percent(share)), with a confidence "
            + "of 95 %; there may be failures that it seldom or never reaches"
        if case .pct(let depth) = method, options.preemptionBound == nil {
            let chance = 1 / (Double(sample.threads) * pow(Double(sample.steps), Double(depth - 1)))
            let missed = pow(1 - chance, drawn)
            words +=
                "; such a sample misses a bug of depth \(depth), in \(sample.threads) threads with "
                + "\(sample.steps) steps, in \(percent(missed)) at most"
        }
        return words
    }

    /// A share, as a number of cases of a hundred or more.
    private func percent(_ share: Double) -> String {
        if share >= 0.1 { return "\(Int((share * 100).rounded(.up))) of 100 cases" }
        let cases = pow(10, (-log10(share)).rounded(.up))
        let english = Locale(identifier: "en_US")
        return "\(Int((share * cases).rounded(.up))) of "
            + "\(Int(cases).formatted(.number.locale(english))) cases"
    }
}
