import RaceLab
import SharedSuite

/// An interleaving that the reader has written down, and the failure that it must show.
struct Scheduled {
    let schedule: String
    let options: Exploration.Options
    /// The failure that is required; `nil`: any finding of the failing kinds.
    let wanted: Reason?
    /// In which interleaving that happens, for a sentence.
    var wish = "in which a check fails"
    let scenario: (Scenario) -> Void

    func verdict() -> Requirement.Verdict {
        guard schedule.contains(where: { !$0.isWhitespace }) else {
            return .fails(
                Failure(reason: Failure.noSchedule, detail: "the row of letters is still empty"))
        }
        do {
            let completed = try completed(schedule)
            let trace = completed.trace
            if let mismatch = completed.mismatch {
                return .fails(
                    Failure(
                        reason: Failure.noSchedule, detail: mismatch.description, showing: trace))
            }
            if hasGoneWrong(trace) { return .holds(explored: nil) }
            return .fails(
                Failure(reason: Failure.doesNotFail, detail: sentence(trace), showing: trace))
        } catch {
            return .fails(Failure(reason: Failure.noSchedule, detail: "\(error)"))
        }
    }

    /// After the last letter of the row, the threads run to their ends.
    func completed(_ schedule: String) throws -> Exploration.CompletedReplay {
        var options = options
        options.reduction = false
        options.marksPointOfNoReturn = false
        return try Exploration.replay(prefix: schedule, options: options, scenario)
    }

    /// Whether the interleaving fails as required.
    private func hasGoneWrong(_ trace: Exploration.Trace) -> Bool {
        guard let wanted else { return !judged(trace).isEmpty }
        return trace.findings.contains { Reason($0) == wanted }
    }

    private func judged(_ trace: Exploration.Trace) -> [Exploration.Finding] {
        trace.findings.filter { options.failingKinds.contains($0.kind) }
    }

    /// The grader's verdict on an interleaving, as lines.
    func verdict(_ trace: Exploration.Trace) -> [Report.Span] {
        guard hasGoneWrong(trace) else { return [Report.Span("✗ \(sentence(trace))", .failure)] }
        if let wanted {
            return [Report.Span("✓ it fails as required: \(wanted.sentence)", .success)]
        }
        return [Report.Span("✓ it fails, as required:", .success)]
            + judged(trace).map { Report.Span("✗ \($0)", .failure) }
    }

    private func sentence(_ trace: Exploration.Trace) -> String {
        let others = judged(trace).filter { $0.kind == .failedCheck }.map(\.reason)
        if let other = others.first {
            return "this interleaving fails differently: \(other). Look for one \(wish)"
        }
        let overlaps = trace.findings.contains { $0.kind == .overlap }
        return "in this interleaving every check holds"
            + (overlaps ? " (that two steps overlap is a different bug)" : "")
            + ": look for one \(wish)"
    }
}

extension Failure {
    fileprivate static let noSchedule = "no schedule"
    fileprivate static let doesNotFail = "does not fail"

    /// Whether a schedule is missing that the reader has to find.
    public var isAboutSchedule: Bool {
        [Failure.noSchedule, Failure.doesNotFail].contains(reason)
    }
}
