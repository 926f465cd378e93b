import CRaceLab
import Foundation

/// An exploration whose scenario runs in child processes, see ``Exploration/Options/Isolation``.
///
/// A child does its work like any other exploration. If it crashes, its parent reads the steps of
/// the current interleaving from shared memory and starts another child. That child explores from
/// the beginning again, and ends the interleaving right before the step that crashes. So the result
/// of the last child is complete, and no state has to survive a crash.
final class Isolated {
    private var options: Exploration.Options
    private let describe: (Scenario) -> Void
    private var crashes: [KnownCrash] = []
    private let timeLimit: Duration
    private let memoryLimit: Int
    /// The remaining part of the time limit, which all children share.
    private var timeLeft: Duration
    private let began: ContinuousClock.Instant
    private static let maximumCrashes = 64
    private static let attempts = 3

    init(
        _ options: Exploration.Options, timeLimit: Duration, memoryLimit: Int,
        _ describe: @escaping (Scenario) -> Void
    ) {
        self.options = options
        self.options.isolation = .none
        self.timeLimit = timeLimit
        self.memoryLimit = memoryLimit
        self.describe = describe
        timeLeft = timeLimit
        began = options.now()
    }

    private enum Ending: Error {
        case crash(KnownCrash, ChildResult)
        case inconclusive(Exploration.Inconclusive, explored: Int)
    }

    // MARK: Explorations and replays

    func explored() -> ExplorationResult {
        do throws(Ending) {
            return try value { $0.explored() }
        } catch {
            switch error {
            case .inconclusive(let inconclusive, let explored):
                return ExplorationResult(
                    explored: explored, coverage: .first(explored), inconclusive: inconclusive)
            case .crash(let crash, let child): return explored(upTo: crash, child)
            }
        }
    }

    /// Called for a crash that cannot be skipped, or one crash too many. Explores the interleavings
    /// before it once more, because the child that crashed returned no result.
    private func explored(upTo crash: KnownCrash, _ child: ChildResult) -> ExplorationResult {
        let isUnavoidable = crash.schedule.choices.isEmpty
        let explored = crash.runs + (isUnavoidable ? 0 : 1)
        if !isUnavoidable { crashes.append(crash) }
        // The exploration repeats its first interleaving at the end. If the set-up crashes the nth
        // time, that leaves room for one less.
        for count in [explored, explored - 1] where count > 0 {
            options.explore(atMost: count)
            guard var result = try? value({ $0.explored() }) else { continue }
            if isUnavoidable { result.found.add(finding(of: crash)) }
            if result.limit == .interleavings || result.sample != nil { result.limit = .crash }
            return result
        }
        // No interleaving completed: only the crash is known.
        var found = Found()
        found.add(finding(of: crash))
        return ExplorationResult(
            threads: child.threads, explored: 1, coverage: .first(1), limit: .crash, found: found)
    }

    func trace(
        of schedule: @escaping (Explorer) throws(Exploration.ReplayError) -> Exploration.Schedule
    ) throws(Exploration.ReplayError) -> Exploration.Trace {
        crashes = []
        let replayed: Replayed
        do throws(Ending) {
            replayed = try valueOfOneChild { explorer in
                Replayed { () throws(Exploration.ReplayError) in
                    try explorer.trace(of: schedule(explorer))
                }
            }
        } catch {
            switch error {
            // The trace ends with the crash.
            case .crash(let crash, let child): return marked(child.trace(reason: crash.reason))
            case .inconclusive(let reason, _): throw .inconclusive(reason)
            }
        }
        return marked(try replayed.trace())
    }

    func counterexample(
        showing finding: Exploration.Finding
    ) throws(Exploration.ReplayError) -> Exploration.Trace {
        guard finding.kind != .crash, let replayed = marked(finding.schedule, finding)
        else { return try trace { _ in finding.schedule } }
        return try replayed.trace()
    }

    // MARK: Traces

    /// The result of a replay in a child, or why there is none.
    private enum Replayed: ValueOfChild {
        case trace(Exploration.Trace)
        case error(Exploration.ReplayError)

        init(_ replay: () throws(Exploration.ReplayError) -> Exploration.Trace) {
            do throws(Exploration.ReplayError) {
                self = .trace(try replay())
            } catch {
                self = .error(error)
            }
        }

        var inconclusive: Exploration.Inconclusive? {
            if case .error(.inconclusive(let reason)) = self { reason } else { nil }
        }

        func trace() throws(Exploration.ReplayError) -> Exploration.Trace {
            switch self {
            case .trace(let trace): return trace
            case .error(let error): throw error
            }
        }
    }

    private func marked(_ trace: Exploration.Trace) -> Exploration.Trace {
        guard options.marksPointOfNoReturn, !trace.findings.isEmpty,
            !trace.findings.contains(where: { $0.kind == .crash })
        else { return trace }
        return (try? marked(trace.schedule)?.trace()) ?? trace
    }

    /// Marks the step from which every continuation fails. That runs other interleavings, any of
    /// which may crash.
    private func marked(
        _ schedule: Exploration.Schedule, _ finding: Exploration.Finding? = nil
    ) -> Replayed? {
        try? value { explorer in
            Replayed { () throws(Exploration.ReplayError) in
                try explorer.markedTrace(
                    of: schedule, failingBy: finding?.kind, showing: finding)
            }
        }
    }

    private func finding(of crash: KnownCrash) -> Exploration.Finding {
        Exploration.Finding(.said(.crash, crash.reason), count: 1, schedule: crash.schedule)
    }

    // MARK: Children

    /// Runs `work` in one child after another until a child completes it. Each crash adds an
    /// interleaving that the next child cuts short.
    private func value<Value: ValueOfChild>(
        _ work: @escaping (Explorer) -> Value
    ) throws(Ending) -> Value {
        while true {
            do throws(Ending) {
                return try valueOfOneChild(work)
            } catch {
                // A crash before the first step cannot be skipped.
                guard case .crash(let crash, _) = error, !crash.schedule.choices.isEmpty,
                    !crashes.contains(where: { $0.schedule == crash.schedule }),
                    crashes.count < Isolated.maximumCrashes
                else { throw error }
                crashes.append(crash)
            }
        }
    }

    private func valueOfOneChild<Value: ValueOfChild>(
        _ work: @escaping (Explorer) -> Value
    ) throws(Ending) -> Value {
        if let why = Exploration.unavailable ?? rl_no_children().map({ String(cString: $0) }) {
            throw .inconclusive(.unavailable(why), explored: 0)
        }
        var options = options
        if let time = options.maximumTime {
            options.maximumTime = max(.milliseconds(1), time - (options.now() - began))
        }
        let job = ChildJob(options, memoryLimit) { [options, describe, crashes] reporter in
            var options = options
            // The parent reports the progress.
            options.progress = nil
            let explorer = Explorer(options, describe, crashes: crashes, reporter: reporter)
            reporter.tell(.value((try? JSONEncoder().encode(work(explorer))) ?? Data()))
        }
        // Not in the child: another thread may be finding it out at the time of the fork.
        _ = unavailableTasks
        let learned = rl_steps_learned()
        let (child, value) = try run(job, Value.self)
        let hasLearned = rl_steps_learned() != learned
        if let family = child.probes {
            Families.avoid(family, "its canary ends the process: \(child.reason)")
            return try valueOfOneChild(work)
        }
        if let value, crashes.isEmpty || !hasLearned {
            FileHandle.standardError.write(Data(child.errors.utf8))
            return value
        }
        FileHandle.standardError.write(Data(child.errorsBesidesTheCrash.utf8))
        if child.isStuck {
            throw .inconclusive(
                .blocked(
                    thread: child.thread ?? "set-up or check", place: "in a child process"),
                explored: child.runs)
        }
        if child.timeIsUp {
            let beginning = child.schedule.prefix(40)
            throw .inconclusive(
                .tookTooLong(
                    limit: timeLimit, schedule: beginning.text(threads: child.threads)),
                explored: child.runs)
        }
        if let foreignEnd = child.foreignEnd {
            throw .inconclusive(.unavailable(foreignEnd), explored: child.runs)
        }
        if hasLearned {
            // The interleavings that crash may have other steps now.
            crashes = []
            return try valueOfOneChild(work)
        }
        throw .crash(
            KnownCrash(
                schedule: child.schedule, reason: child.reason, runs: child.runs), child)
    }

    /// Runs a child, and another one if it blocks: a lock of a library that another thread of this
    /// process held at the `fork` is never released in the child. That is rare, so a child that
    /// blocks in every attempt has a reason of its own.
    private func run<Value: ValueOfChild>(
        _ job: ChildJob, _ type: Value.Type
    ) throws(Ending) -> (ChildResult, Value?) {
        var attempt = 1
        while true {
            guard let child = job.run(atMost: timeLeft) else {
                throw .inconclusive(
                    .unavailable("the operating system allows no child process"), explored: 0)
            }
            timeLeft -= child.time
            let value = child.value.flatMap { try? JSONDecoder().decode(type, from: $0) }
            let isBlocked = if case .blocked? = value?.inconclusive { true } else { child.isStuck }
            if !isBlocked || attempt == Isolated.attempts { return (child, value) }
            attempt += 1
        }
    }
}

/// What a child returns.
private protocol ValueOfChild: Codable {
    var inconclusive: Exploration.Inconclusive? { get }
}

extension ExplorationResult: ValueOfChild {}

/// The work for one child process.
private final class ChildJob {
    private let options: Exploration.Options
    private let memoryLimit: Int
    private let work: (ChildReporter) -> Void
    private var task = rl_errand()
    private let began = ContinuousClock.now

    init(
        _ options: Exploration.Options, _ memoryLimit: Int,
        _ work: @escaping (ChildReporter) -> Void
    ) {
        self.options = options
        self.memoryLimit = memoryLimit
        self.work = work
    }

    /// Returns `nil` if the operating system allows no child process.
    func run(atMost time: Duration) -> ChildResult? {
        task.context = Unmanaged.passUnretained(self).toOpaque()
        task.before = { _ in
            Symbols.hold()
            Families.state.hold()
        }
        task.after = { _ in
            Families.state.release()
            Symbols.release()
        }
        task.work = { Unmanaged<ChildJob>.fromOpaque($0!).takeUnretainedValue().workInChild() }
        if options.progress != nil {
            task.progressed = { context, runs, redundant in
                let job = Unmanaged<ChildJob>.fromOpaque(context!).takeUnretainedValue()
                job.options.progress?(.init(runs: runs, redundant: redundant, since: job.began))
            }
        }
        task.max_steps = options.stepsAllowed
        task.milliseconds = max(0, Int64(time / .milliseconds(1)))
        task.memory = UInt64(max(0, memoryLimit))
        var answer = rl_child()
        defer { rl_forget_child(&answer) }
        guard withExtendedLifetime(self, { rl_run_in_child(&task, &answer) }) else { return nil }
        return ChildResult(answer)
    }

    private func workInChild() {
        let reporter = ChildReporter(pipe: task.results)
        Families.probed(tell: reporter.tell)
        work(reporter)
    }
}
