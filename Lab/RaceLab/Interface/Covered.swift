import CRaceLab

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
}
