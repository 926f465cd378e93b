import CRaceLab
import Foundation

/// An exploration whose scenario runs in child processes, see ``Options/Isolation``.
///
/// A child works through its task like any other exploration. When it crashes, the steps of the
/// present interleaving are found in the memory that it shares with its parent, and the next child
/// begins once more: it ends that interleaving right before the step that crashes. So what a child
/// comes to in the end is complete, and no state has to survive a crash.
final class Isolated {
    private var options: Options
    private let describe: (Scenario) -> Void
    /// What is left of the time for all children together.
    private var timeLeft: Duration
    private static let maximumCrashes = 64
    private static let attempts = 3

    init(_ options: Options, _ describe: @escaping (Scenario) -> Void) {
        self.options = options
        self.options.isolation = .none
        self.describe = describe
        timeLeft = options.timeLimit
    }

    private enum Ending: Error {
        case crash(KnownCrash, Remains)
        case obstacle(Obstacle)
    }

    // MARK: What can be asked for

    func report() -> Report {
        do throws(Ending) {
            return try reportOfChild()
        } catch {
            switch error {
            case .obstacle(let obstacle): return report(obstacle: obstacle)
            case .crash(let crash, let remains): return report(upTo: crash, remains)
            }
        }
    }

    /// It crashes whatever the interleaving, or too often. What was explored until then is explored
    /// once more, to its end.
    private func report(upTo crash: KnownCrash, _ remains: Remains) -> Report {
        let isUnavoidable = crash.schedule.choices.isEmpty
        let explored = crash.runs + (isUnavoidable ? 0 : 1)
        guard explored > 0 else { return report(of: crash, remains) }
        if !isUnavoidable { options.crashes.append(crash) }
        options.maximumInterleavings = explored
        return (try? reportOfChild()) ?? report(of: crash, remains)
    }

    private func reportOfChild() throws(Ending) -> Report {
        try again(whenBlocked: { $0.obstacle }) { () throws(Ending) in
            try value { $0.report() }
        }
    }

    /// A lock of the libraries that another thread of this process held when it was copied is never
    /// released in the copy, and who needs it blocks. That is rare, and nothing that happens again
    /// and again; what blocks every time blocks by itself.
    private func again<Value>(
        whenBlocked obstacle: (Value) -> Obstacle?, _ attempt: () throws(Ending) -> Value
    ) throws(Ending) -> Value {
        var value = try attempt()
        for _ in 1..<Isolated.attempts {
            guard case .blocked = obstacle(value) else { break }
            value = try attempt()
        }
        return value
    }

    func trace(_ schedule: String) throws -> Trace {
        try marked(trace { try $0.trace(of: Schedule(schedule, threads: $0.threadNames())) })
    }

    func trace(of schedule: Schedule) throws -> Trace {
        try marked(trace { try $0.trace(of: schedule) })
    }

    func counterexample(of report: Report, showing finding: Finding) throws -> Trace? {
        if finding.kind == .crash { return try trace(of: finding.schedule) }
        let found = try? value { explorer in
            Replayed {
                try report.counterexample(
                    showing: finding, options: explorer.options, self.describe)
            }
        }
        return try found?.trace() ?? trace(of: finding.schedule)
    }

    // MARK: Traces

    /// The result of a replay, with the errors that it may throw.
    private enum Replayed: Codable {
        case trace(Trace?)
        case misfit(Misfit)
        case malformed(String)
        case obstacle(Obstacle)

        init(_ replay: () throws -> Trace?) {
            do {
                self = .trace(try replay())
            } catch let misfit as Misfit {
                self = .misfit(misfit)
            } catch let malformed as Schedule.Malformed {
                self = .malformed(malformed.description)
            } catch {
                self = .obstacle(error as? Obstacle ?? .unavailable("\(error)"))
            }
        }

        var obstacle: Obstacle? {
            if case .obstacle(let obstacle) = self { obstacle } else { nil }
        }

        func trace() throws -> Trace? {
            switch self {
            case .trace(let trace): return trace
            case .misfit(let misfit): throw misfit
            case .malformed(let words): throw Schedule.Malformed(description: words)
            case .obstacle(let obstacle): throw obstacle
            }
        }
    }

    /// The trace of an interleaving that may crash: that of the steps until then.
    private func trace(_ replay: @escaping (Explorer) throws -> Trace) throws -> Trace {
        options.crashes = []
        do {
            let replayed = try again(whenBlocked: { $0.obstacle }) { () throws(Ending) in
                try valueOfOneChild { explorer in Replayed { try replay(explorer) } }
            }
            guard let trace = try replayed.trace() else { throw Obstacle.noThreads }
            return trace
        } catch Ending.crash(let crash, let remains) {
            return remains.trace(reason: crash.reason)
        } catch Ending.obstacle(let obstacle) {
            throw obstacle
        }
    }

    /// Other interleavings are run for the mark, and any of them may crash.
    private func marked(_ trace: Trace) -> Trace {
        guard options.marksPointOfNoReturn, !trace.findings.isEmpty,
            !trace.findings.contains(where: { $0.kind == .crash })
        else { return trace }
        let marked = try? value { explorer in
            Replayed { try explorer.markedTrace(of: trace.schedule) }
        }
        return (try? marked?.trace()) ?? trace
    }

    // MARK: Reports without an exploration

    private func report(obstacle: Obstacle) -> Report {
        Report(
            threads: [], explored: 0, redundant: 0, extent: .first(0), limit: nil, found: Found(),
            judging: options.judging, outcomes: [:], expectations: [], surviving: nil,
            obstacle: obstacle)
    }

    /// Nothing was explored to its end.
    private func report(of crash: KnownCrash, _ remains: Remains) -> Report {
        var found = Found()
        found.count([.crash])
        found.all = [Finding(.said(.crash, crash.reason), count: 1, schedule: crash.schedule)]
        return Report(
            threads: remains.threads, explored: 1, redundant: 0, extent: .first(1),
            limit: .interleavings, found: found, judging: options.judging, outcomes: [:],
            expectations: [], surviving: nil,
            obstacle: nil)
    }

    // MARK: Children

    /// Finds something out in children, as many as it takes.
    private func value<Value: Codable>(
        _ work: @escaping (Explorer) -> Value
    ) throws(Ending) -> Value {
        while true {
            do throws(Ending) {
                return try valueOfOneChild(work)
            } catch {
                guard case .crash(let crash, _) = error, canGoOn(after: crash) else { throw error }
                options.crashes.append(crash)
            }
        }
    }

    private func canGoOn(after crash: KnownCrash) -> Bool {
        let isNew = !options.crashes.contains { $0.schedule == crash.schedule }
        let canBeSkipped = !crash.schedule.choices.isEmpty
        return isNew && canBeSkipped && options.crashes.count < Isolated.maximumCrashes
    }

    private func valueOfOneChild<Value: Codable>(
        _ work: @escaping (Explorer) -> Value
    ) throws(Ending) -> Value {
        if let why = unavailable ?? rl_no_children().map({ String(cString: $0) }) {
            throw .obstacle(.unavailable(why))
        }
        let errand = Errand(options, describe) { explorer in
            (try? JSONEncoder().encode(work(explorer))) ?? Data()
        }
        let remains = try remains(of: errand)
        if let value = remains.value.flatMap({ try? JSONDecoder().decode(Value.self, from: $0) }) {
            FileHandle.standardError.write(Data(remains.errors.utf8))
            return value
        }
        FileHandle.standardError.write(Data(remains.errorsBesidesTheCrash.utf8))
        if remains.isStuck {
            throw .obstacle(
                .blocked(
                    thread: remains.thread ?? "set-up or check", place: "in a child process"))
        }
        if remains.timeIsUp {
            let beginning = remains.schedule.prefix(40)
            throw .obstacle(
                .tookTooLong(
                    limit: options.timeLimit, schedule: beginning.text(threads: remains.threads)))
        }
        throw .crash(
            KnownCrash(
                schedule: remains.schedule, reason: remains.reason, runs: remains.runs), remains)
    }

    /// What has stopped the thread that watches in one child will hardly do so in the next.
    private func remains(
        of errand: Errand, attempts: Int = Isolated.attempts
    ) throws(Ending) -> Remains {
        guard let remains = errand.run(atMost: timeLeft) else {
            throw .obstacle(.unavailable("the operating system allows no child process"))
        }
        timeLeft -= remains.time
        guard remains.isStuck, attempts > 1 else { return remains }
        return try self.remains(of: errand, attempts: attempts - 1)
    }
}

/// A task for one child process.
private final class Errand {
    private let options: Options
    private let describe: (Scenario) -> Void
    private let work: (Explorer) -> Data
    private var errand = rl_errand()
    private let began = ContinuousClock.now

    init(
        _ options: Options, _ describe: @escaping (Scenario) -> Void,
        _ work: @escaping (Explorer) -> Data
    ) {
        self.options = options
        self.describe = describe
        self.work = work
    }

    /// What is made for the first time in a child, the metadata of a type say, could wait for a
    /// thread that has begun to make it and is not there. So what a child will say is said once
    /// here before.
    private static let rehearsed: Bool = {
        var found = Found()
        found.all = [Finding(.said(.crash, ""), count: 1, schedule: Schedule([0]))]
        found.count([.crash])
        let report = Report(
            threads: [""], explored: 1, redundant: 0, extent: .all, limit: .time, found: found,
            judging: [.crash], outcomes: ["": 1], expectations: [], surviving: Schedule([0]),
            obstacle: .noThreads)
        return isSaid(report) && isSaid(Message.value(Data())) && isSaid(Message.initial([""]))
            && isSaid(Message.scenario(threads: [""], columns: [""]))
    }()

    private static func isSaid(_ something: some Codable) -> Bool {
        func decode<Value: Codable>(_ like: Value, _ data: Data) throws -> Value {
            try JSONDecoder().decode(Value.self, from: data)
        }
        return (try? decode(something, JSONEncoder().encode(something))) != nil
    }

    /// `nil` if there can be no child.
    func run(atMost time: Duration) -> Remains? {
        _ = Errand.rehearsed
        errand.context = Unmanaged.passUnretained(self).toOpaque()
        errand.before = { _ in Symbols.hold() }
        errand.after = { _ in Symbols.release() }
        errand.work = { Unmanaged<Errand>.fromOpaque($0!).takeUnretainedValue().workInChild() }
        if options.progress != nil {
            errand.progressed = { context, runs, redundant in
                Unmanaged<Errand>.fromOpaque(context!).takeUnretainedValue()
                    .report(runs: runs, redundant: redundant)
            }
        }
        errand.max_steps = options.stepsAllowed
        errand.milliseconds = max(0, Int64(time / .milliseconds(1)))
        errand.memory = UInt64(max(0, options.memoryLimit))
        var answer = rl_child()
        defer { rl_forget_child(&answer) }
        guard withExtendedLifetime(self, { rl_run_in_child(&errand, &answer) }) else { return nil }
        return Remains(answer)
    }

    private func report(runs: UInt64, redundant: UInt64) {
        options.progress?(
            ExplorationProgress(
                explored: Int(runs), redundant: Int(redundant), elapsed: .now - began))
    }

    private func workInChild() {
        var options = options
        // The parent reports it.
        options.progress = nil
        let explorer = Explorer(options, describe)
        let herald = Herald(pipe: errand.results)
        explorer.herald = herald
        herald.tell(.value(work(explorer)))
    }
}
