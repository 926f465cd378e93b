import Foundation
import RaceLab
import SharedSuite
import Synchronization

extension Requirement {
    /// Whether an answer meets a requirement.
    public enum Verdict: Sendable, Equatable, Codable {
        /// `explored`: how many interleavings, if there are several threads.
        case holds(explored: Int?)
        /// In each of the interleavings that were tried, and there are more: it would take too long.
        case holdsSoFar(explored: Int)
        case fails(Failure)
    }
}

/// How a requirement is not met.
public struct Failure: Sendable, Equatable, Codable {
    /// A word or two: `lost`, `deadlock`.
    public var reason: String
    public var detail: String
    /// In how many interleavings, of how many.
    public var failing: Int?
    public var explored: Int?
    /// The interleaving that shows it, as a table, and as a schedule that reproduces it.
    public var table: String?
    public var schedule: String?
    /// What is to be asked, if that is known better than from the requirement and the reason.
    public var question: String?
}

extension Requirement {
    /// Runs the requirement on an answer, in this process.
    ///
    /// - Parameter isolated: in a child process, so that a crash in a scenario has an interleaving.
    func run(on answer: AnyObject, isolated: Bool = false) -> Verdict {
        switch body(answer) {
        case .oneThread(let run): verdictOfOneThread(run)
        case .unwatched(let run): verdictUnwatched(run)
        case .judged(let judge):
            judge().map { .fails(Failure(reason: $0.reason, detail: $0.detail)) }
                ?? .holds(explored: nil)
        case .scenario(var options, let describe):
            explored(&options, isolated: isolated, describe)
        case .independence(let describe): Independence(describe).verdict()
        case .scheduled(let scheduled): scheduled.verdict()
        }
    }

    /// Runs one interleaving of the user's choice, and says what the grader says of it, in lines.
    ///
    /// - Parameter marked: with a mark at the step from which every interleaving fails. To find it,
    ///   others are run; a crash in one of them ends this process.
    func replayed(
        _ answer: AnyObject, _ schedule: String, marked: Bool
    ) throws -> (Trace, verdict: [String]) {
        switch body(answer) {
        case .oneThread, .unwatched, .judged:
            throw NothingToReplay(description: "\(id) has one thread only: nothing to schedule")
        case .scenario(var options, let describe):
            options.marksPointOfNoReturn = marked
            let trace = try replay(schedule, options: options, describe)
            let judged = trace.findings.filter { options.judging.contains($0.kind) }
            return (trace, verdict(judged.map(\.sentence)))
        case .independence(let describe):
            let trace = try replay(schedule, options: Independence.options, describe)
            return (trace, verdict(Independence(describe).complaints(of: trace)))
        case .scheduled(let scheduled):
            let carried = try scheduled.carried(schedule)
            if let misfit = carried.misfit { throw misfit }
            return (carried.trace, scheduled.verdict(carried.trace))
        }
    }

    private func verdict(_ complaints: [String]) -> [String] {
        complaints.isEmpty ? ["✓ every check holds"] : complaints.map { "✗ \($0)" }
    }

    struct NothingToReplay: Error, CustomStringConvertible {
        let description: String
    }

    // MARK: One thread

    /// On a thread of the lab, where a deadlock and an endless loop come to light.
    private func verdictOfOneThread(_ run: @escaping () throws -> Void) -> Verdict {
        var fault: Fault?
        let report = explore(options: Options()) { scenario in
            scenario.thread("main") {
                do {
                    try run()
                } catch let thrown as Fault {
                    fault = thrown
                } catch let failed as Failed {
                    fault = Fault(failed.reason.rawValue, failed.detail)
                }
            }
        }
        if let fault { return .fails(Failure(reason: fault.reason, detail: fault.detail)) }
        switch report.obstacle {
        // One thread may do what it likes, and each time in another way.
        case .sawNothing, .notDeterministic, .notDeterministicBecauseOf, nil: break
        case .some(let obstacle): return .fails(Failure(obstacle))
        }
        guard let finding = report.findings.first else { return .holds(explored: nil) }
        return .fails(Failure(reason: finding.word, detail: finding.sentence))
    }

    /// On a thread with half a megabyte of stack. It may end the process: see ``GraderProcess``.
    private func verdictUnwatched(_ run: @escaping () throws -> Void) -> Verdict {
        let outcome = Mutex<Result<Void, any Error>?>(nil)
        nonisolated(unsafe) let run = run
        let ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            let result = Result { try run() }
            outcome.withLock { $0 = result }
            ended.signal()
        }
        thread.stackSize = 512 << 10
        thread.start()
        ended.wait()
        do {
            try outcome.withLock { $0 }?.get()
            return .holds(explored: nil)
        } catch let fault as Fault {
            return .fails(Failure(reason: fault.reason, detail: fault.detail))
        } catch {
            return .fails(Failure(reason: "uncaught error", detail: "\(error)"))
        }
    }

    // MARK: Several threads

    private func explored(
        _ options: inout Options, isolated: Bool, _ describe: @escaping (Scenario) -> Void
    ) -> Verdict {
        if isolated { options.isolation = .childProcess }
        let describe = { (scenario: Scenario) in
            Patience.renew()
            describe(scenario)
        }
        let report = explore(options: options, describe)
        if let obstacle = report.obstacle { return .fails(Failure(obstacle)) }
        guard let finding = report.findings.first else {
            guard let missing = report.unreached.first else {
                return report.extent == .all
                    ? .holds(explored: report.explored) : .holdsSoFar(explored: report.explored)
            }
            return .fails(
                Failure(
                    reason: "over-synchronised",
                    detail: "no interleaving ends as it could: \(missing.outcome)"))
        }
        let trace = try? report.counterexample(showing: finding, options: options, describe)
        return .fails(
            Failure(
                reason: finding.word, detail: finding.sentence, failing: finding.count,
                explored: report.explored, table: trace?.table(width: TableWidth.now),
                schedule: trace?.scheduleText))
    }
}

extension Failure {
    init(_ obstacle: Obstacle) {
        let reason =
            switch obstacle {
            case .tooLong, .runsOn, .tookTooLong: "no end"
            case .blocked: "waits forever"
            case .notDeterministic, .notDeterministicBecauseOf: "not deterministic"
            default: "not explored"
            }
        // What the lab says of these is for who has written the scenario.
        let detail =
            switch obstacle {
            case .tooLong(let steps, _):
                "it had not come to an end after \(steps) steps: look for a loop that does not end"
            case .blocked(let thread, let place):
                "the thread '\(thread)' waits \(place) for something that nobody brings about"
            default: obstacle.description
            }
        self.init(reason: reason, detail: detail)
    }
}

extension Finding {
    /// A word or two for a table.
    var word: String {
        switch kind {
        case .failedCheck: Reason(self)?.rawValue ?? Fault(reason)?.reason ?? "wrong"
        case .overlap: Reason.overlap.rawValue
        case .deadlock where waitsForNobody, .livelock where waitsForNobody: "waits forever"
        default: kind.rawValue
        }
    }

    /// Whether one thread alone is left, and looks again and again for a change that no thread makes. No
    /// thread has anything that another one waits for, so it is no deadlock in the sense of the
    /// exercises. (The lab says in its sentence what each thread waits for.)
    private var waitsForNobody: Bool {
        reason.hasSuffix(" for a change that no thread makes") && !reason.contains("; '")
    }

    /// The rest of it.
    var sentence: String {
        if [.deadlock, .livelock].contains(kind) { return "\(word): \(reason)" }
        guard kind == .failedCheck, Reason(self) == nil else { return description }
        return Fault(reason)?.detail ?? description
    }
}
