import CRaceLab

/// How a scenario is to be explored, and what counts as a failure.
public struct Options: Sendable {
    /// The kinds of finding that make an interleaving a failure. Others are reported as remarks.
    public var judging: Set<Finding.Kind> = Set(Finding.Kind.allCases)
    /// Explores only interleavings with up to this many forced switches, that is, switches away
    /// from a thread that could have gone on. `nil`: any number.
    public var maximumSwitches: Int?
    /// Stops after this many interleavings.
    public var maximumInterleavings = 100_000
    /// Gives up on an interleaving of more steps than this.
    public var maximumSteps = 2_000
    /// Leaves out interleavings that differ from one explored before only in the order of steps
    /// that do not touch the same thing. Sound for every verdict (by sleep sets, Godefroid 1996);
    /// the counts become smaller. Not used together with `maximumSwitches`, where it would leave
    /// out too much.
    public var reduction = false
    /// Where the scenario runs. In a child process a crash ends the child only, and is a finding like
    /// others: ``Finding/Kind/crash``.
    public var isolation = Isolation.none
    /// How long an exploration in child processes may take. A loop without an end is noticed much
    /// earlier.
    public var timeLimit = Duration.seconds(60)
    /// How many bytes of memory a child process may take, besides those that this one has.
    public var memoryLimit = 1 << 30
    /// What an isolated exploration has come to know.
    var crashes: [KnownCrash] = []
    /// Breaks the lab itself: RL_FAULT_… of CRaceLab. For the lab's own tests.
    @_spi(Testing) public var faults: UInt32 = 0

    public init() {}
}

/// Runs a scenario under every interleaving of its threads, those with the fewest switches first.
///
/// `describe` is called once for each interleaving, on a thread of the lab, and says what to set
/// up, which threads there are and what has to hold in the end. See ``Scenario``.
///
/// The threads are real and run one at a time. A switch can happen before every access to a
/// property of a class, a captured variable or a global; before a lock is taken, a condition or a
/// semaphore is waited for or signalled, work is sent to a queue or waited for, a thread is started
/// or joined; before an operation on an atomic; and before something is appended to a ``Log``.
/// Which of those there are, and what the lab does not see, is listed at ``Scenario``. Releasing a
/// lock is no such moment: what another thread does right before it could be done right after it.
///
/// The call returns when everything has been explored or a bound is reached. It may be made from
/// any thread; explorations wait for one another.
public func explore(
    options: Options = Options(), _ describe: @escaping (Scenario) -> Void
) -> Report {
    switch options.isolation {
    case .none: Explorer(options, describe).report()
    case .childProcess: Isolated(options, describe).report()
    }
}

/// Runs a scenario under one interleaving and says what happened, step by step.
///
/// - Throws: ``Misfit`` if the schedule does not fit the scenario; ``Schedule/Malformed`` if the
///   text is no schedule; ``Obstacle`` if the lab cannot work.
public func replay(
    _ schedule: String, options: Options = Options(),
    _ describe: @escaping (Scenario) -> Void
) throws -> Trace {
    if options.isolation == .childProcess { return try Isolated(options, describe).trace(schedule) }
    let explorer = Explorer(options, describe)
    return try explorer.trace(of: Schedule(schedule, threads: explorer.threadNames()))
}

/// Runs a scenario under one interleaving and says what happened, step by step.
///
/// - Throws: ``Misfit`` if the schedule does not fit the scenario; ``Obstacle`` if the lab cannot
///   work.
public func replay(
    _ schedule: Schedule, options: Options = Options(),
    _ describe: @escaping (Scenario) -> Void
) throws -> Trace {
    options.isolation == .childProcess
        ? try Isolated(options, describe).trace(of: schedule)
        : try Explorer(options, describe).trace(of: schedule)
}

/// A schedule that does not fit the scenario.
public struct Misfit: Error, Hashable, Codable, Sendable, CustomStringConvertible {
    /// The first step that does not fit, counted from 1.
    public let step: Int
    /// Whether the thread whose turn it was has to wait for another one.
    public let isWaiting: Bool
    public let description: String
}

/// One exploration: the Swift side of the engine in CRaceLab, which calls back to set up each
/// run, to run the bodies and to judge what came of them.
final class Explorer {
    private(set) var options: Options
    private let describe: (Scenario) -> Void
    private var scenario = Scenario()
    private var uncaught: [(thread: Int, error: any Error)] = []

    init(_ options: Options, _ describe: @escaping (Scenario) -> Void) {
        self.options = options
        self.describe = describe
    }

    /// What is counted as one and the same finding.
    private enum Key: Hashable {
        case crash(String)
        case failedCheck(String)
        case uncaughtError(String)
        case forbiddenOutcome(String)
        case deadlock(String)
        case race(first: UInt, second: UInt, overlap: Bool)

        var kind: Finding.Kind {
            switch self {
            case .crash: .crash
            case .failedCheck: .failedCheck
            case .uncaughtError: .uncaughtError
            case .forbiddenOutcome: .forbiddenOutcome
            case .deadlock: .deadlock
            case .race(_, _, let overlap): overlap ? .overlap : .dataRace
            }
        }
    }

    private struct Tally {
        var count = 0
        var size = (switches: UInt32.max, steps: UInt32.max)
        var schedule = Schedule([])
        let firstSeen: Int
    }

    /// All that must be the same when an interleaving is run again.
    private struct Recording: Equatable {
        let status: UInt32
        let schedule: Schedule
        let places: [UInt]
        let keys: [Key]
        let outcome: String?
    }

    private var tallies: [Key: Tally] = [:]
    private var failing = 0
    private var outcomes: [String: Int] = [:]
    private var surviving: Schedule?
    private var accesses: [UInt32] = []
    /// How many threads a run has had at most.
    private var threadCount = 0
    /// What the run that was looked at last ended in.
    private var outcome: String?
    private var first: Recording?
    private var obstacle: Obstacle?
    /// Looks at a run, and says whether to go on with the next.
    private var judge: (rl_run) -> Bool = { _ in true }
    private var stepped: ((Int) -> Void)?
    private var wasSetUp: (() -> Void)?
    /// Told of everything that is worth knowing even if this process crashes.
    var herald: Herald?

    // MARK: Reports

    func report() -> Report {
        judge = { run in self.tally(run) }
        let summary = run()
        let threads = names(upTo: threadCount)
        if obstacle == nil {
            obstacle = obstacle(after: summary)
        }
        if obstacle == nil, !firstCanBeRepeated() { obstacle = .notDeterministic }
        let findings = tallies.sorted { left, right in
            (left.key.kind, left.value.firstSeen) < (right.key.kind, right.value.firstSeen)
        }.map { key, tally in
            Finding(
                kind: key.kind, reason: reason(for: key), count: tally.count,
                schedule: tally.schedule)
        }
        let extent: Report.Extent =
            if summary.run_bound_reached {
                .first(Int(summary.runs))
            } else if summary.preemption_bound_reached, let bound = options.maximumSwitches {
                .atMost(switches: bound)
            } else {
                .all
            }
        return Report(
            threads: threads, explored: Int(summary.runs), redundant: Int(summary.redundant),
            extent: extent, failing: failing,
            findings: findings.filter { options.judging.contains($0.kind) },
            remarks: findings.filter { !options.judging.contains($0.kind) },
            outcomes: outcomes, expectations: scenario.expectations, surviving: surviving,
            obstacle: obstacle)
    }

    /// Runs the first interleaving once more: now it shows if the runs since have left something
    /// behind.
    private func firstCanBeRepeated() -> Bool {
        guard let first else { return true }
        let counted = outcomes
        defer { outcomes = counted }
        var again: Recording?
        judge = { run in
            again = self.recording(of: run, keys: self.keys(of: run))
            return false
        }
        _ = run(first.schedule)
        return again == first
    }

    private func recording(of run: rl_run, keys: [Key]) -> Recording {
        Recording(
            status: run.status.rawValue, schedule: schedule(of: run),
            places: run.allSteps.map { UInt($0.pc) }, keys: keys, outcome: outcome)
    }

    private func obstacle(after summary: rl_summary) -> Obstacle? {
        if scenario.threads.isEmpty { return .noThreads }
        if summary.status == RL_NOT_THE_SAME { return .notDeterministic }
        // Who crashes at once has had no time to touch anything.
        if !options.crashes.isEmpty { return nil }
        let silent = zip(scenario.threads, accesses).first { !$0.isWorker && $1 == 0 }
        return silent.map { .sawNothing(thread: $0.0.name) }
    }

    private func names(upTo count: Int) -> [String] {
        StartedThreads.names(after: scenario.threads.map(\.name), upTo: count)
    }

    private func tally(_ run: rl_run) -> Bool {
        threadCount = max(threadCount, Int(run.thread_count))
        switch run.status {
        case RL_TOO_LONG:
            let text = Schedule(Array(schedule(of: run).choices.prefix(40)))
                .text(threads: names(upTo: threadCount))
            obstacle = .tooLong(steps: options.maximumSteps, schedule: "\(text)…")
            return false
        case RL_BLOCKED, RL_SILENT:
            obstacle = stuck(run)
            return false
        case RL_TOO_MANY:
            obstacle = tooManyThreads(run)
            return false
        case RL_NOT_THE_SAME:
            return false
        default:
            break
        }
        while accesses.count < scenario.threads.count { accesses.append(0) }
        for thread in scenario.threads.indices {
            accesses[thread] = max(accesses[thread], run.accesses(of: thread))
        }
        let keys = keys(of: run)
        if first == nil { first = recording(of: run, keys: keys) }
        for key in keys {
            var tally = tallies[key] ?? Tally(firstSeen: tallies.count)
            tally.count += 1
            if run.size < tally.size {
                tally.size = run.size
                tally.schedule = schedule(of: run)
            }
            tallies[key] = tally
        }
        if keys.contains(where: { options.judging.contains($0.kind) }) {
            failing += 1
        } else if surviving == nil, keys.isEmpty {
            surviving = schedule(of: run)
        }
        return true
    }

    /// Everything that is wrong with a run, each thing once.
    private func keys(of run: rl_run) -> [Key] {
        var keys: [Key] = []
        outcome = nil
        if run.status == RL_CRASHES {
            let schedule = schedule(of: run)
            let known = options.crashes.first { $0.schedule == schedule }
            keys.append(.crash(known?.reason ?? ""))
        }
        if run.status == RL_DEADLOCK {
            keys.append(.deadlock(deadlock(run)))
        }
        for (thread, error) in uncaught {
            keys.append(.uncaughtError("'\(scenario.threads[thread].name)' threw \(error)"))
        }
        if run.status == RL_COMPLETE {
            if let failure = failedCheck() {
                keys.append(.failedCheck(failure))
            } else if let outcome = scenario.readOutcome?() {
                self.outcome = outcome
                outcomes[outcome, default: 0] += 1
                if let reason = scenario.objection(to: outcome) {
                    keys.append(.forbiddenOutcome(reason))
                }
            }
        }
        for race in run.allRaces {
            let pair = race.inOrder
            keys.append(.race(first: pair.0, second: pair.1, overlap: race.overlap))
        }
        var seen: Set<Key> = []
        return keys.filter { seen.insert($0).inserted }
    }

    private func failedCheck() -> String? {
        for check in scenario.checks {
            do {
                try check()
            } catch {
                return "\(error)"
            }
        }
        return nil
    }

    private func schedule(of run: rl_run) -> Schedule {
        Schedule(run.allSteps.map { Int($0.thread) })
    }

    // MARK: Words for what was found

    private func reason(for key: Key) -> String {
        switch key {
        case .failedCheck(let reason), .uncaughtError(let reason), .forbiddenOutcome(let reason),
            .deadlock(let reason), .crash(let reason):
            return reason
        case .race(let first, let second, let overlap):
            let sites = Symbols.sites(of: [first, second])
            let places = [first, second].map { Explorer.place(sites[$0]) }
            if overlap {
                return places[0] == places[1]
                    ? "both threads can be in the middle of \(places[0])"
                    : "one thread can be in the middle of \(places[0]), "
                        + "another in the middle of \(places[1])"
            }
            return "nothing orders \(places[0]) and \(places[1])"
        }
    }

    private static func place(_ site: Site?) -> String {
        guard let site else { return "code without debug information" }
        return "\(site.file):\(site.line)"
    }

    private func deadlock(_ run: rl_run) -> String {
        let waiting = run.allWaiting
        let addresses = waiting.flatMap { [UInt($0.pc), UInt($0.holder_pc)] }.filter { $0 != 0 }
        let sites = Symbols.sites(of: addresses)
        return waiting.indices.filter { !waiting[$0].finished }.map { thread in
            "'\(name(thread))' " + whyItWaits(waiting[thread], thread, sites)
        }.joined(separator: "; ")
    }

    private func name(_ thread: Int) -> String { names(upTo: thread + 1)[thread] }

    private func whyItWaits(_ waiting: rl_waiting, _ thread: Int, _ sites: [UInt: Site]) -> String {
        let kind = rl_kind(UInt32(waiting.kind))
        if kind == RL_RECEIVE { return "waits for work" }
        let waits = "waits at \(Explorer.place(sites[UInt(waiting.pc)]))"
        if waiting.spinning { return "\(waits) for a change that nobody makes" }
        if kind == RL_WAIT { return "\(waits) to be woken by a signal" }
        if kind == RL_ACQUIRE { return "\(waits) for a semaphore to be signalled" }
        guard waiting.holder >= 0 else { return waits }
        let holder = Int(waiting.holder)
        if kind == RL_JOIN { return "\(waits) for '\(name(holder))' to end" }
        let taken = Explorer.place(sites[UInt(waiting.holder_pc)])
        let who = holder == thread ? "it took itself" : "'\(name(holder))' took"
        return "\(waits) for the lock that \(who) at \(taken)"
    }

    private func tooManyThreads(_ run: rl_run) -> Obstacle {
        .tooManyThreads(thread: name(Int(run.allSteps.last?.thread ?? 0)))
    }

    private func stuck(_ run: rl_run) -> Obstacle {
        let frames = run.allFrames.map { UInt($0) + 1 }
        let sites = Symbols.sites(of: frames)
        let site = frames.lazy.compactMap { sites[$0] }.first { $0.isOfProgram }
        let place = site.map { "at \($0.file):\($0.line)" } ?? "somewhere"
        let index = Int(run.blocked_thread)
        let name = index >= 0 ? name(index) : "set-up or check"
        return run.status == RL_SILENT
            ? .runsOn(thread: name, place: place) : .blocked(thread: name, place: place)
    }

    // MARK: Traces

    func threadNames() -> [String] {
        let scenario = Scenario()
        describe(scenario)
        return StartedThreads.names(
            after: scenario.threads.map(\.name), upTo: Int(RL_MAX_THREADS))
    }

    /// Runs one interleaving and writes down everything about it.
    func trace(of schedule: Schedule) throws -> Trace {
        var initial: [String] = []
        var states: [Int: [String]] = [:]
        var trace: Trace?
        var misfit: Misfit?
        wasSetUp = {
            // Here, not earlier: now the lab is ours, and no other exploration writes notes.
            Notes.start(self.herald)
            initial = self.scenario.columns.map { $0.read() }
            self.herald?.tell(.initial(initial))
        }
        stepped = { step in
            guard !rl_lock_is_held() else { return }
            let state = self.scenario.columns.map { $0.read() }
            states[step] = state
            self.herald?.tell(.states(step: step, state))
        }
        judge = { run in
            switch run.status {
            case RL_MISFIT:
                misfit = self.misfit(run, schedule)
            case RL_BLOCKED, RL_SILENT:
                self.obstacle = self.stuck(run)
            case RL_TOO_MANY:
                self.obstacle = self.tooManyThreads(run)
            default:
                trace = self.trace(run, initial: initial, states: states)
            }
            trace?.add(notes: Notes.stop())
            return false
        }
        let summary = run(schedule)
        if let obstacle { throw obstacle }
        if let misfit { throw misfit }
        guard let trace else { throw self.obstacle(after: summary) ?? .noThreads }
        return trace
    }

    /// The interleaving with the fewest switches that shows what `finding` says; of those, the
    /// shortest. The search goes through all interleavings in order of forced switches, so it can
    /// end as soon as it comes to those with more.
    func shortest(showing finding: Finding) -> Schedule {
        options.reduction = false
        options.maximumInterleavings = 20_000
        var best = (forced: Int.max, switches: Int.max, steps: Int.max)
        var shortest = finding.schedule
        judge = { run in
            let forced = run.forcedSwitches
            guard forced <= best.forced else { return false }
            let shows = self.keys(of: run).contains {
                $0.kind == finding.kind && self.reason(for: $0) == finding.reason
            }
            let schedule = self.schedule(of: run)
            let size = (forced, schedule.switches, schedule.choices.count)
            if shows, size < best {
                (best, shortest) = (size, schedule)
            }
            return true
        }
        _ = run()
        return shortest
    }

    /// The first step of a failing interleaving after which every way on fails: shows something
    /// of this kind, or of a more telling one.
    func pointOfNoReturn(of schedule: Schedule, _ kind: Finding.Kind) -> Int? {
        for length in schedule.choices.indices.reversed() {
            var survivor = false
            judge = { run in
                let keys =
                    [RL_COMPLETE, RL_DEADLOCK, RL_CRASHES].contains(run.status)
                    ? self.keys(of: run) : []
                survivor = !keys.contains {
                    $0.kind <= kind && self.options.judging.contains($0.kind)
                }
                return !survivor
            }
            let summary = run(Schedule(Array(schedule.choices.prefix(length))), andBeyond: true)
            if survivor { return length }
            if summary.run_bound_reached || summary.preemption_bound_reached { return nil }
        }
        return nil
    }

    private func misfit(_ run: rl_run, _ schedule: Schedule) -> Misfit {
        let step = Int(run.misfit_step)
        let waiting = run.allWaiting
        let names = names(upTo: waiting.count)
        let couldGo = names.indices.filter { !waiting[$0].finished }.map { "'\(names[$0])'" }
        let reason: String
        var isWaiting = false
        if step >= schedule.choices.count {
            reason =
                "the schedule ends after \(step) steps, but \(couldGo.joined(separator: ", "))"
                + " did not come to an end"
        } else if couldGo.isEmpty {
            reason = "the schedule goes on, but every thread has come to its end"
        } else if schedule.choices[step] >= names.count {
            reason = "it is the turn of a thread that has not been started"
        } else {
            let name = names[schedule.choices[step]]
            isWaiting = !waiting[schedule.choices[step]].finished
            reason =
                isWaiting
                ? "it is the turn of '\(name)', but that thread cannot go on"
                : "it is the turn of '\(name)', but that thread has come to its end"
        }
        return Misfit(
            step: step + 1, isWaiting: isWaiting, description: "step \(step + 1): \(reason)")
    }

    private func trace(_ run: rl_run, initial: [String], states: [Int: [String]]) -> Trace {
        let steps = run.allSteps
        let sites = Symbols.sites(
            of: steps.filter { $0.kind != RL_NOTE.rawValue }.map { UInt($0.pc) })
        let keys = keys(of: run)
        let objects = Trace.Step.objects(of: steps)
        var result = Trace(
            threads: names(upTo: Int(run.thread_count)), columns: scenario.columns.map(\.title),
            initial: initial,
            steps: steps.enumerated().map { index, step in
                let site = sites[UInt(step.pc)]
                return Trace.Step(
                    thread: Int(step.thread), kind: Trace.Step.Kind(step),
                    object: objects[index], site: site,
                    text: site.flatMap { SourceText.line($0.line, of: $0.path) } ?? "",
                    failed: step.failed, locksHeld: Int(step.locks_held),
                    states: states[index])
            },
            findings: keys.map { key in
                Finding(
                    kind: key.kind, reason: reason(for: key), count: 1,
                    schedule: schedule(of: run))
            },
            waiting: Trace.Waiting.all(of: run))
        for race in run.allRaces where options.judging.contains(race.overlap ? .overlap : .dataRace)
        {
            let word = race.overlap ? "overlaps" : "races"
            result.mark(
                step: Int(race.second_step), "\(word) with step \(race.first_step + 1)")
            break
        }
        return result
    }

    // MARK: The engine

    private func run(_ schedule: Schedule? = nil, andBeyond: Bool = false) -> rl_summary {
        obstacle = nil
        if let why = unavailable {
            obstacle = .unavailable(why)
            return rl_summary()
        }
        var configuration = rl_scenario()
        configuration.context = Unmanaged.passUnretained(self).toOpaque()
        configuration.set_up = { context in Explorer.from(context).setUp() }
        configuration.body = { context, thread in Explorer.from(context).runBody(Int(thread)) }
        configuration.finished = { context, run in
            let explorer = Explorer.from(context)
            return explorer.judge(run!.pointee)
        }
        configuration.is_compilers_own = { pc in Symbols.isCompilersOwn(UInt(pc)) }
        if stepped != nil {
            configuration.stepped = { context, step in Explorer.from(context).stepped?(Int(step)) }
        }
        configuration.reduce = options.reduction && options.maximumSwitches == nil
        configuration.max_preemptions = Int32(options.maximumSwitches ?? -1)
        configuration.max_runs = UInt64(max(1, options.maximumInterleavings))
        configuration.max_steps = UInt32(max(1, options.maximumSteps))
        configuration.faults = options.faults
        let crashes = KnownCrashes(options.crashes)
        configuration.crashes = crashes.all
        configuration.crash_count = options.crashes.count
        defer { withExtendedLifetime(crashes) {} }
        let choices = (schedule?.choices ?? []).map { UInt8($0) }
        let neverEmpty: [UInt8] = choices + [0]
        return neverEmpty.withUnsafeBufferPointer { buffer in
            if schedule != nil {
                configuration.schedule = buffer.baseAddress
                configuration.schedule_length = UInt32(choices.count)
                configuration.beyond = andBeyond
            }
            return withExtendedLifetime(self) { rl_explore(&configuration) }
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> Explorer {
        Unmanaged<Explorer>.fromOpaque(context!).takeUnretainedValue()
    }

    private func setUp() -> Int32 {
        scenario = Scenario()
        uncaught = []
        describe(scenario)
        herald?.isSetUp(scenario)
        wasSetUp?()
        return Int32(scenario.threads.count)
    }

    private func runBody(_ index: Int) {
        let body = scenario.threads[index].body
        var thrown: (any Error)?
        rl_listen()
        do {
            try body()
        } catch {
            rl_ignore()
            thrown = error
            rl_attend()
        }
        rl_deafen()
        if let thrown { uncaught.append((index, thrown)) }
    }
}

/// Why the lab cannot work in this build, if so.
public var unavailable: String? {
    #if DEBUG
        if let why = rl_unavailable() { return String(cString: why) }
        return hears
            ? nil
            : "the lab hears nothing: the Swift runtime's swift_beginAccess is bound elsewhere "
                + "(is the standard library linked statically?)"
    #else
        return "the lab needs a debug build: in a release build the compiler leaves out the calls "
            + "on which it listens (swift build -c debug, which is the default)"
    #endif
}

private final class Probe {
    var value = 0
}

/// Whether an access to a property arrives at the lab, tried out once.
private let hears: Bool = {
    let probe = Probe()
    let before = rl_heard()
    probe.value += 1
    return rl_heard() != before
}()

extension rl_run {
    var allSteps: UnsafeBufferPointer<rl_step> {
        UnsafeBufferPointer(start: steps, count: Int(step_count))
    }

    var allRaces: UnsafeBufferPointer<rl_race> {
        UnsafeBufferPointer(start: races, count: Int(race_count))
    }

    var allWaiting: [rl_waiting] {
        withUnsafeBytes(of: waiting) {
            Array($0.bindMemory(to: rl_waiting.self).prefix(Int(thread_count)))
        }
    }

    var allFrames: [UInt] {
        withUnsafeBytes(of: frames) {
            Array($0.bindMemory(to: UInt.self).prefix(Int(frame_count)))
        }
    }

    /// How often somebody else went on although the one before could have.
    var forcedSwitches: Int {
        let steps = allSteps
        return zip(steps, steps.dropFirst()).count { before, step in
            before.thread != step.thread && step.enabled >> before.thread & 1 == 1
        }
    }

    /// By which of two interleavings is shown that show the same: the smaller one.
    var size: (switches: UInt32, steps: UInt32) { (switches, step_count) }

    func accesses(of thread: Int) -> UInt32 {
        withUnsafeBytes(of: accesses) { $0.bindMemory(to: UInt32.self)[thread] }
    }
}

extension rl_race {
    /// Both places, in an order that does not depend on who came first.
    var inOrder: (UInt, UInt) {
        (min(UInt(first_pc), UInt(second_pc)), max(UInt(first_pc), UInt(second_pc)))
    }
}
