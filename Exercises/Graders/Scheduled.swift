import RaceLab
import SharedSuite

/// An interleaving that a reader has written down, and what has to come of it.
struct Scheduled {
    let schedule: String
    let race: any Race
    let scenario: (Scenario) -> Void
    /// What has to go wrong; `nil`: anything that the hazard judges.
    let wanted: Reason?
    /// Whether a mere data race is enough.
    var countsDataRaces = false

    func examination() -> Examination {
        do {
            let choices = try Schedule(schedule, threads: threads()).choices
            let (trace, misfit) = try carriedOut(choices)
            if let misfit { return .fails(failure("no schedule", misfit.description, trace)) }
            let reasons = trace.findings.compactMap(Reason.init)
            let isFound = wanted.map(reasons.contains) ?? !judged(trace).isEmpty
            return isFound
                ? .holds(explored: nil) : .fails(failure("survives", sentence(trace), trace))
        } catch {
            return .fails(Failure(reason: "no schedule", detail: "\(error)"))
        }
    }

    private func failure(_ reason: String, _ detail: String, _ trace: Trace) -> Failure {
        var failure = Failure(reason: reason, detail: detail)
        failure.table = trace.table(width: 100)
        failure.schedule = trace.scheduleText
        return failure
    }

    private func judged(_ trace: Trace) -> [Finding] {
        let kinds = countsDataRaces ? race.judging.union([.dataRace]) : race.judging
        return trace.findings.filter { kinds.contains($0.kind) }
    }

    private func sentence(_ trace: Trace) -> String {
        let others = judged(trace).filter { $0.kind == .failedCheck }.map(\.reason)
        let wish = wanted.map { "in which \($0.sentence)" } ?? "in which something goes wrong"
        return others.isEmpty
            ? "in this interleaving every check holds: look for one \(wish)"
            : "what goes wrong here is that \(others[0]): look for an interleaving \(wish)"
    }

    /// The interleaving that begins as the schedule says. Where that ends too early the threads go on
    /// to their ends, the first one first: nobody has to count the steps that decide nothing. Where
    /// it does not fit, it counts as far as it does.
    private func carriedOut(_ schedule: [Int]) throws -> (Trace, Misfit?) {
        var options = race.options
        options.reduction = false
        var choices = schedule
        var given = schedule.count
        var unfit: Misfit?
        while true {
            do {
                return (try replay(Schedule(choices), options: options, scenario), unfit)
            } catch let misfit as Misfit {
                let isTooShort = misfit.step > choices.count
                if isTooShort {
                    choices.append(0)
                } else if misfit.step <= given {
                    unfit = misfit
                    given = misfit.step - 1
                    choices = Array(choices.prefix(given)) + [0]
                } else if choices[choices.count - 1] < Scheduled.maximumThreads {
                    // This thread cannot go on; perhaps the next one can.
                    choices[choices.count - 1] += 1
                } else {
                    throw misfit
                }
            }
        }
    }

    private static let maximumThreads = 8

    private func threads() -> [String] {
        var options = race.options
        options.maximumInterleavings = 1
        return explore(options: options, scenario).threads
    }
}
