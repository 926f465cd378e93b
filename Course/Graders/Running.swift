import Foundation
import RaceLab
import SharedSuite
import Synchronization

extension Requirement {
    /// Whether an answer meets a requirement.
    public enum Verdict: Sendable, Equatable, Codable {
        /// `explored`: the number of interleavings, if there are several threads, and which of all
        /// these are.
        /// `programs`: the number of small programs, if they are generated.
        /// `remarks`: what could be better, in sentences.
        case holds(
            explored: Int?, of: Exploration.Coverage = .all, programs: Int? = nil,
            remarks: [String] = [])
        case fails(Failure)
    }
}

/// Why a requirement is not met.
public struct Failure: Sendable, Equatable, Codable {
    /// A word or two: `lost`, `deadlock`.
    public var reason: String
    public var detail: String
    /// The number of failing and of explored interleavings.
    public var failing: Int?
    public var explored: Int?
    /// An interleaving that fails, as a table, and as a schedule that reproduces it.
    package var table: Report?
    public var schedule: String?
    /// The number of the program that fails, if there are several.
    public var program: Int?
    /// A better question than that of the requirement, if there is one.
    public var question: String?
}

extension Requirement {
    /// Runs the requirement on an answer, in this process.
    ///
    /// - Parameter isolated: whether it runs in a child process, so that a crash is reported with
    ///   its interleaving.
    func run(
        on answer: AnyObject, isolated: Bool = false, isOptimized: Bool = false
    ) -> Verdict {
        let verdict = verdict(on: answer, isolated: isolated, isOptimized: isOptimized)
        guard let whenStuck, case .fails(var failure) = verdict,
            ["deadlock", "waits forever", "no end"].contains(failure.reason),
            // A thread that waits on a condition does not wait for a lock.
            !failure.detail.contains("to be woken")
        else { return verdict }
        failure.reason = whenStuck.reason
        failure.detail = "\(whenStuck.detail) (\(failure.detail))"
        return .fails(failure)
    }

    private func verdict(on answer: AnyObject, isolated: Bool, isOptimized: Bool) -> Verdict {
        switch body(answer) {
        case .unwatched(let run, let stack): return verdictUnwatched(run, stack)
        case .scenario(var options, let describe):
            let verdict = explored(&options, isolated: isolated, describe)
            guard triesWeakerOrderings, case .holds(let explored, let coverage, _, _) = verdict
            else { return verdict }
            let weaker = WeakerOrderings(options: options) {
                Patience.renew()
                describe($0)
            }
            return .holds(explored: explored, of: coverage, remarks: weaker.remarks)
        case .programs(let programs):
            return self.verdict(of: programs, isolated: isolated, isOptimized: isOptimized)
        case .independence(let independence): return independence.verdict()
        case .scheduled(let scheduled): return scheduled.verdict()
        }
    }

    /// Runs one interleaving chosen by the user, and returns the grader's verdict on it, as lines.
    ///
    /// - Parameter marked: whether the step is marked from which every interleaving fails. To find
    ///   it, others are run; a crash in one of them ends this process.
    /// - Parameter isolated: whether it runs in a child process, so that a crash is reported.
    func replayed(
        _ answer: AnyObject, _ schedule: String, marked: Bool, isolated: Bool
    ) throws -> (Exploration.Trace, verdict: [Report.Span]) {
        switch body(answer) {
        case .independence(let independence):
            let trace = try Exploration.replay(
                schedule, options: Independence.options, independence.describe)
            return (trace, verdict(independence.complaints(of: trace)))
        case .scheduled(let scheduled):
            let completed = try scheduled.completed(schedule)
            if let mismatch = completed.mismatch {
                throw Exploration.ReplayError.mismatch(mismatch)
            }
            return (completed.trace, scheduled.verdict(completed.trace))
        case let body:
            guard let (usual, describe) = scenario(of: body) else {
                throw Grader.Refusal("\(id) has one thread only, so there is nothing to schedule")
            }
            var options = usual
            options.marksPointOfNoReturn = marked
            if isolated { options.isolation = .childProcess() }
            let trace = try Exploration.replay(schedule, options: options, describe)
            let judged = trace.findings.filter { options.failingKinds.contains($0.kind) }
            return (trace, verdict(judged.map(\.sentence)))
        }
    }

    /// The scenario of a requirement that has one.
    func scenario(of body: Body) -> (options: Exploration.Options, describe: (Scenario) -> Void)? {
        switch body {
        case .scenario(let options, let describe): (options, describe)
        case .scheduled(let scheduled): (scheduled.options, scheduled.scenario)
        case .programs(let programs):
            (Requirement.optionsOfPrograms, { programs.add(program ?? 0, to: $0) })
        case .independence, .unwatched: nil
        }
    }

    private func verdict(_ complaints: [String]) -> [Report.Span] {
        complaints.isEmpty
            ? [Report.Span("✓ every check holds", .success)]
            : complaints.map { Report.Span("✗ \($0)", .failure) }
    }

    // MARK: One thread

    /// Runs on a thread of its own. It may end the process: see ``GraderProcess``.
    private func verdictUnwatched(_ run: @escaping () throws -> Void, _ stack: Int) -> Verdict {
        let outcome = Mutex<Result<Void, any Error>?>(nil)
        nonisolated(unsafe) let run = run
        let (isWaitedFor, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let thread = Thread {
            isWaitedFor.wait()
            let result = Result { try run() }
            outcome.withLock { $0 = result }
            ended.signal()
        }
        thread.stackSize = stack
        thread.start()
        // Until then, both threads would allocate memory at the same time.
        isWaitedFor.signal()
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

    /// Explores a scenario. Where an answer waits with a time limit again and again, limits that may
    /// be over at any time leave too much to explore. Then they are over only when no other thread
    /// can go on.
    ///
    /// - Parameter ifBounded: whether that applies to too many interleavings as well, and not only
    ///   to one that is too long.
    func exploration(
        _ options: inout Exploration.Options, ifBounded: Bool = false,
        _ describe: @escaping (Scenario) -> Void
    ) -> Exploration {
        let describe = { (scenario: Scenario) in
            Patience.renew()
            describe(scenario)
        }
        guard options.timeOutsFireAtAnyTime else { return explore(options: options, describe) }
        var short = options
        short.maximumSteps = 300
        let exploration = explore(options: short, describe)
        guard exploration.findings.isEmpty,
            exploration.isTooLong || (ifBounded && exploration.coverage != .all)
        else { return exploration }
        options.timeOutsFireAtAnyTime = false
        return explore(options: options, describe)
    }

    func explored(
        _ options: inout Exploration.Options, isolated: Bool,
        _ describe: @escaping (Scenario) -> Void
    ) -> Verdict {
        if isolated { options.isolation = .childProcess() }
        let exploration = exploration(&options, describe)
        if let inconclusive = exploration.inconclusive {
            guard case .tooLong = inconclusive, !exploration.findings.isEmpty else {
                return .fails(Failure(inconclusive))
            }
        }
        guard let finding = exploration.findings.first else {
            guard let missing = exploration.unreached.first else {
                return .holds(explored: exploration.explored, of: exploration.coverage)
            }
            return .fails(
                Failure(
                    reason: "over-synchronized",
                    detail: "no interleaving has this possible outcome: \(missing.outcome)"))
        }
        let trace = try? exploration.counterexample(showing: finding)
        let isCall = finding.word == Fault.underALock.reason
        let call = isCall ? trace?.firstNoteUnderALock.map { ": \($0.text)" } : nil
        return .fails(
            Failure(
                reason: finding.word, detail: finding.sentence + (call ?? ""),
                failing: finding.count, explored: exploration.explored, table: trace?.shortReport,
                schedule: trace?.scheduleText))
    }
}

extension Exploration {
    fileprivate var isTooLong: Bool {
        if case .tooLong = inconclusive { true } else { false }
    }
}

extension Fault {
    static let underALock = Fault(
        "called under a lock", "a function that is not yours is called while a lock is held")

    /// The fault if such a function was called in this run. All of them make notes.
    static var calledUnderALock: Fault? { Scenario.hasEntryUnderALock ? underALock : nil }
}

extension Scenario {
    func forbidCallsUnderLocks() {
        check { if let fault = Fault.calledUnderALock { throw fault } }
    }
}

extension Exploration.Trace {
    /// The table. Of the middle of a long one, only lines with remarks remain. A replay shows all.
    var shortReport: Report {
        let (first, last) = (60, 30)
        var report = report(width: TableWidth.now)
        let hidden = report.lines.count - first - last
        guard hidden > last else { return report }
        let middle = first..<(first + hidden)
        let kept = report.lines[middle].filter { $0.contains { $0.role == .remark } }.prefix(last)
        let note = "… \(hidden - kept.count) lines are left out here; a replay shows them …"
        report.lines.replaceSubrange(middle, with: [[Report.Span(note, .remark)]] + kept)
        return report
    }

    fileprivate var firstNoteUnderALock: Step? {
        var locksHeld: [Int: Int] = [:]
        return steps.first { step in
            defer { locksHeld[step.thread] = step.locksHeld }
            return step.kind == .note && locksHeld[step.thread, default: 0] > 0
        }
    }
}

extension Failure {
    /// The reason if the lab cannot explore an answer, because it uses something that the lab does
    /// not control, or too many threads. It may be correct, so it is not graded.
    static let notControlled = "not controlled"

    /// The reason if an answer behaves differently when the same is run again.
    public static let notDeterministic = "not deterministic"

    /// - Parameter program: the one that has failed, and does not when it is explored again.
    static func doesNotRecur(in program: Int? = nil) -> Failure {
        Failure(
            reason: notDeterministic,
            detail: "the same calls took other steps when they were made again: something "
                + "outlives the objects that were made for them",
            program: program)
    }

    /// For a program that fails after others, and passes when it runs again.
    var afterOthersOnly: Failure {
        var failure = self
        failure.detail +=
            ". When it runs again by itself, it passes: something outlives the programs before it, "
            + "or differs from run to run"
        return failure
    }

    init(reason: String, detail: String, showing trace: Exploration.Trace?) {
        self.init(
            reason: reason, detail: detail, table: trace?.shortReport,
            schedule: trace?.scheduleText)
    }

    /// `nil` if nothing failed.
    init?(_ exploration: Exploration, hasOneThread: Bool) {
        switch exploration.inconclusive {
        case nil: break
        // One thread may behave differently in each run, and may do nothing that the lab sees.
        case .sawNothing where hasOneThread, .notDeterministic where hasOneThread,
            .notDeterministicBecauseOf where hasOneThread:
            break
        case .some(let inconclusive):
            self.init(inconclusive)
            return
        }
        guard let finding = exploration.findings.first else { return nil }
        self.init(reason: finding.word, detail: finding.sentence)
    }

    init(_ inconclusive: Exploration.Inconclusive) {
        let reason =
            switch inconclusive {
            case .tooLong, .runsOn, .tookTooLong: "no end"
            case .blocked: "waits forever"
            case .notDeterministic, .notDeterministicBecauseOf: Failure.notDeterministic
            case .sawNothing, .noThreads, .malformedScenario: "not explored"
            default: Failure.notControlled
            }
        // The lab's own sentences about these are for the author of a scenario.
        let detail =
            switch inconclusive {
            case .tooLong(let steps, _, _):
                "it had not ended after \(steps) steps: look for an endless loop"
            case .blocked(let thread, let place):
                "the thread '\(thread)' waits \(place) for something that no thread brings about"
            case .uncontrolled(let what, let place):
                "\(place) \(what), and the lab cannot explore that. It explores a Mutex, an atomic, "
                    + "NSLock, NSRecursiveLock, NSCondition, DispatchSemaphore, DispatchQueue without a "
                    + "target queue, pthread_mutex_t and pthread_rwlock_t"
            default: inconclusive.description
            }
        self.init(reason: reason, detail: detail)
    }
}

extension Exploration.Finding {
    /// One or two words for a table.
    var word: String {
        switch kind {
        case .failedCheck: Reason(self)?.rawValue ?? Fault(reason)?.reason ?? "wrong"
        case .overlap: Reason.overlap.rawValue
        case .deadlock where waitsForNobody, .livelock where waitsForNobody: "waits forever"
        default: kind.rawValue
        }
    }

    /// Whether a single thread is left, which waits for a change that no thread makes. No thread
    /// holds anything that another thread waits for, so the exercises do not call it a deadlock.
    /// (The lab's sentence names what each thread waits for.)
    private var waitsForNobody: Bool {
        reason.hasSuffix(" for a change that no thread makes") && !reason.contains("; '")
    }

    /// The complete sentence.
    var sentence: String {
        if [.deadlock, .livelock].contains(kind) { return "\(word): \(reason)" }
        guard kind == .failedCheck, Reason(self) == nil else { return description }
        return Fault(reason)?.detail ?? description
    }
}
