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
            let carried = try carried(schedule)
            let trace = carried.trace
            if let misfit = carried.misfit {
                return .fails(failure("no schedule", misfit.description, trace))
            }
            let reasons = trace.findings.compactMap(Reason.init)
            let isFound = wanted.map(reasons.contains) ?? !judged(trace).isEmpty
            return isFound
                ? .holds(explored: nil) : .fails(failure("goes well", sentence(trace), trace))
        } catch {
            return .fails(Failure(reason: "no schedule", detail: "\(error)"))
        }
    }

    /// Where the row ends, the threads go on to their ends.
    func carried(_ schedule: String) throws -> Carried {
        var options = race.options
        options.reduction = false
        return try replay(beginning: schedule, options: options, scenario)
    }

    private func failure(_ reason: String, _ detail: String, _ trace: Trace) -> Failure {
        var failure = Failure(reason: reason, detail: detail)
        failure.table = trace.table(width: 100)
        failure.schedule = trace.scheduleText
        return failure
    }

    /// What the grader goes by.
    func judged(_ trace: Trace) -> [Finding] {
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
}
