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

    func verdict() -> Requirement.Verdict {
        guard schedule.contains(where: { !$0.isWhitespace }) else {
            return .fails(Failure(reason: "no schedule", detail: "there is no row of letters yet"))
        }
        do {
            let carried = try carried(schedule)
            let trace = carried.trace
            if let misfit = carried.misfit {
                return .fails(failure("no schedule", misfit.description, trace))
            }
            return hasGoneWrong(trace)
                ? .holds(explored: nil) : .fails(failure("goes well", sentence(trace), trace))
        } catch {
            return .fails(Failure(reason: "no schedule", detail: "\(error)"))
        }
    }

    /// Where the row ends, the threads go on to their ends.
    func carried(_ schedule: String) throws -> Carried {
        var options = race.options
        options.reduction = false
        options.marksPointOfNoReturn = false
        return try replay(beginning: schedule, options: options, scenario)
    }

    private func failure(_ reason: String, _ detail: String, _ trace: Trace) -> Failure {
        var failure = Failure(reason: reason, detail: detail)
        failure.table = trace.table(width: TableWidth.now)
        failure.schedule = trace.scheduleText
        return failure
    }

    /// What the grader goes by.
    private func hasGoneWrong(_ trace: Trace) -> Bool {
        guard let wanted else { return !judged(trace).isEmpty }
        return trace.findings.contains { Reason($0) == wanted }
    }

    private func judged(_ trace: Trace) -> [Finding] {
        let kinds = countsDataRaces ? race.judging.union([.dataRace]) : race.judging
        return trace.findings.filter { kinds.contains($0.kind) }
    }

    /// What the grader would say of it.
    func verdict(_ trace: Trace) -> [String] {
        guard hasGoneWrong(trace) else { return ["✗ \(sentence(trace))"] }
        if let wanted { return ["✓ it goes wrong as it should: \(wanted.sentence)"] }
        return ["✓ it goes wrong, as it should:"] + judged(trace).map { "✗ \($0)" }
    }

    private func sentence(_ trace: Trace) -> String {
        let others = judged(trace).filter { $0.kind == .failedCheck }.map(\.reason)
        let wish = wanted.map { "in which \($0.sentence)" } ?? "in which something goes wrong"
        if let other = others.first {
            return "what goes wrong here is that \(other): look for an interleaving \(wish)"
        }
        let overlaps = trace.findings.contains { $0.kind == .overlap }
        return "in this interleaving every check holds"
            + (overlaps ? " (that two steps overlap is another fault)" : "")
            + ": look for one \(wish)"
    }
}
