import CRaceLab
import Synchronization

/// One exploration: the Swift side of the engine in CRaceLab. The engine calls back to set up each
/// run, to run the bodies of the threads and to judge the run. The explorer tallies the findings of
/// all runs.
final class Explorer {
    let options: Exploration.Options
    /// Interleavings known to crash. In a child process, the engine ends each of them right before
    /// the step that crashes.
    let crashes: [KnownCrash]
    let describe: (Scenario) -> Void
    /// Distinguishes this exploration from others in the same process.
    let number = Explorer.count.add(1, ordering: .relaxed).newValue
    private static let count = Atomic<UInt64>(0)
    let noScenario = Scenario()
    lazy var scenario = noScenario
    /// Whether the scenario is only described, and its threads do not run.
    var onlyDescribes = false
    var uncaught: [(thread: Int, error: any Error)] = []

    init(
        _ options: Exploration.Options, _ describe: @escaping (Scenario) -> Void,
        crashes: [KnownCrash] = [], reporter: ChildReporter? = nil
    ) {
        self.options = options
        self.describe = describe
        self.crashes = crashes
        self.reporter = reporter
    }

    private struct Tally {
        var count = 0
        /// The smallest interleaving that was run and shows the finding.
        var size = RunSize.unlimited
        var schedule = Exploration.Schedule([])
        /// The smallest equivalent interleaving that was computed from one of those, but not run.
        var computed: FewestSwitches.Interleaving?
        let firstSeen: Int

        init(firstSeen: Int) {
            self.firstSeen = firstSeen
        }

        mutating func add(_ run: rl_run, _ other: FewestSwitches.Interleaving?) {
            count += 1
            if run.size < size { (size, schedule) = (run.size, run.schedule) }
            if let other, other.size < computed?.size ?? .unlimited { computed = other }
        }
    }

    /// Everything that must be equal when an interleaving is replayed.
    struct Recording: Equatable {
        let status: UInt32
        let schedule: Exploration.Schedule
        let places: [UInt]
        let causes: [FindingKey]
        let outcome: String?
    }

    private var tallies: [FindingKey: Tally] = [:]
    private var representatives: [Access: Access] = [:]
    private var firstOnLine: [String: Access] = [:]
    private var found = Found()
    private var outcomes: [String: Int] = [:]
    private var passingSchedule: Exploration.Schedule?
    private var accesses: [UInt32] = []
    /// The threads of all runs.
    private var threads = StartedThreads()
    /// The outcome of the last run examined.
    var outcome: String?
    var first: Recording?
    /// How the very first run ended, even if it was not counted.
    var beginning: Beginning?
    private var startedOver = false
    /// The code addresses in the run that did not repeat an earlier one: likely places of the
    /// cause.
    private var lastPlaces: [UInt] = []
    /// Whether to stop because an interleaving has failed.
    private var stopped = false
    var began = ContinuousClock.now
    var deadline: ContinuousClock.Instant?
    var inconclusive: Exploration.Inconclusive?
    // These are set only during a call of `run`.
    var wasSetUp: (() -> Void)?
    var stepped: ((Int) -> Void)?
    var judge: ((rl_run) -> Bool)?

    /// What judges a run at the moment, in words.
    private var judging = ""
    /// What it has found so far.
    private var judged: [FindingKey] = []
    /// What is run next: decided between two runs.
    var search: Search?
    /// What was covered when a bound was reached.
    var progress: SearchProgress?
    /// The finding whose steps a trace marks, and whether the trace has the state columns.
    var shown: String?
    var readsStates = true
    /// The code addresses in the very first run, if the engine has started over since then.
    private var placesAtFirst: [UInt]?
    /// Where that run has changed memory that is older than it.
    private var olderChange: OlderChange?
    /// What the runs have shown to make a difference.
    var matters = rl_matters()
    /// Sends the parent process what it needs even if this process crashes.
    let reporter: ChildReporter?

    // MARK: The result

    func explored() -> ExplorationResult {
        rl_hold_explorations()
        defer { rl_release_explorations() }
        setDeadline()
        let result = exploredOnce()
        guard result.inconclusive == .notDeterministic else { return result }
        // Lazy initialization, of the metadata of a type for example, leaves different data on the
        // stack than later uses do, so a spinning loop may be detected one round later. By now
        // everything is initialized, so try once more.
        let again = Explorer(options, describe, crashes: crashes, reporter: reporter)
        again.deadline = deadline
        again.beginning = beginning
        return again.exploredOnce()
    }

    /// From now on all runs together have the time that the options allow.
    func setDeadline() {
        deadline = options.maximumTime.map { options.now() + $0 }
    }

    /// The milliseconds that are left, at least one; 0: any number.
    var millisecondsLeft: Int64 {
        deadline.map { max(1, Int64(($0 - options.now()) / .milliseconds(1))) } ?? 0
    }

    private func exploredOnce() -> ExplorationResult {
        let summary = run { run in self.tally(run) }
        let isBounded = search?.reachedPreemptionBound == true
        let sample = search?.sampling?.sample
        let covered = progress.map(Exploration.Covered.init)
        let threads = threads.names(after: named)
        inconclusive = inconclusive ?? inconclusive(after: summary)
        if inconclusive == nil, tallies.isEmpty, let doubt = summary.doubt {
            inconclusive = rl_run.outside(String(cString: doubt), at: summary.doubt_pc)
        }
        if inconclusive == nil, !firstCanBeRepeated() {
            inconclusive = LikelyCause(lastPlaces).inconclusive
        }
        if let change = olderChange, change.explains(inconclusive, isWarm: isWarm) {
            inconclusive = change.inconclusive
        }
        found.all = tallies.sorted { left, right in
            (left.key.kind, left.value.firstSeen) < (right.key.kind, right.value.firstSeen)
        }.map { cause, tally in
            Exploration.Finding(
                cause, count: tally.count, schedule: schedule(of: tally, showing: cause))
        }
        let limit = stopped ? .firstFailure : Exploration.Limit(summary.bound)
        let coverage: Exploration.Coverage =
            if sample != nil {
                .sampled(executions: Int(summary.runs))
            } else if limit != nil {
                .first(Int(summary.runs))
            } else if isBounded, let bound = options.preemptionBound {
                .atMost(preemptions: bound)
            } else {
                .all
            }
        return ExplorationResult(
            threads: threads, explored: Int(summary.runs), redundant: Int(summary.redundant),
            coverage: coverage, limit: limit, found: found, outcomes: outcomes,
            expectations: scenario.expectations, passingSchedule: passingSchedule,
            inconclusive: inconclusive, hasWeakOrderings: summary.has_weak_orderings,
            orderings: elements(of: summary.orderings, summary.ordering_count)
                .compactMap(Exploration.Ordering.init),
            randomSeed: summary.has_random_numbers ? options.randomSeed : nil,
            memory: options.memory, startedOver: startedOver, sample: sample,
            covered: stopped ? nil : covered)
    }

    /// The smallest interleaving that shows `cause`. One that was only computed is run, to confirm
    /// that it does.
    private func schedule(of tally: Tally, showing cause: FindingKey) -> Exploration.Schedule {
        guard inconclusive == nil, let computed = tally.computed, computed.size <= tally.size
        else { return tally.schedule }
        let schedule = Exploration.Schedule(choicesOfEngine: computed.choices)
        guard schedule != tally.schedule else { return schedule }
        let counted = outcomes
        defer { outcomes = counted }
        var shows = false
        _ = run(schedule) { run in
            shows = run.status != RL_MISFIT && self.causes(of: run).contains(cause)
            return false
        }
        return shows ? schedule : tally.schedule
    }

    /// Whether the very first run did something that a later run of the same interleaving did not
    /// do. After a new start there may be more steps, so the lines are compared.
    private var isWarm: Bool {
        guard let placesAtFirst, let first else { return false }
        let sites = Symbols.sites(of: placesAtFirst + first.places)
        var rest = first.places[...]
        return !placesAtFirst.allSatisfy { place in
            let line = Exploration.Site.name(sites[place])
            guard let next = rest.firstIndex(where: { Exploration.Site.name(sites[$0]) == line })
            else { return false }
            rest = rest[(next + 1)...]
            return true
        }
    }

    func remember(_ places: [UInt]) {
        placesAtFirst = placesAtFirst ?? places
    }

    func noteOlderChange(_ summary: rl_summary) {
        guard olderChange?.isOfSetUp ?? true, summary.older_change != 0 else { return }
        olderChange = OlderChange(
            place: UInt(summary.older_change), isOfSetUp: summary.is_change_of_set_up)
    }

    /// Resets the tally before the engine starts over.
    func forgetRuns() {
        if let first { remember(first.places) }
        startedOver = startedOver || first != nil
        tallies = [:]
        found = Found()
        outcomes = [:]
        passingSchedule = nil
        accesses = []
        threads = StartedThreads()
        first = nil
        inconclusive = nil
    }

    /// Replays the first interleaving. If the result differs, an earlier run has left state behind.
    private func firstCanBeRepeated() -> Bool {
        guard let first else { return true }
        let counted = outcomes
        defer { outcomes = counted }
        var again: Recording?
        _ = run(first.schedule) { run in
            again = self.recording(of: run, causes: self.causes(of: run))
            self.lastPlaces = first.places + run.places
            return false
        }
        return again == first
    }

    private func recording(of run: rl_run, causes: [FindingKey]) -> Recording {
        Recording(
            status: run.status.rawValue, schedule: run.schedule,
            places: run.places, causes: causes, outcome: outcome)
    }

    func inconclusive(after summary: rl_summary) -> Exploration.Inconclusive? {
        if let inconclusive = inconclusive(of: scenario) { return inconclusive }
        if summary.status == RL_NOT_THE_SAME { return LikelyCause(lastPlaces).inconclusive }
        // A thread that crashes, throws or waits at once, or frees memory twice, may have accessed
        // nothing.
        let kinds: Set<Exploration.Finding.Kind> = [.misuse, .deadlock, .uncaughtError]
        if !crashes.isEmpty || tallies.keys.contains(where: { kinds.contains($0.kind) }) {
            return nil
        }
        let silent = zip(scenario.threads, accesses).first { !$0.isWorker && $1 == 0 }
        return silent.map { .sawNothing(thread: $0.0.name) }
    }

    /// Why the scenario cannot run; `nil` if it can.
    private func inconclusive(of scenario: Scenario) -> Exploration.Inconclusive? {
        if let mistake = scenario.mistake { return .malformedScenario(mistake) }
        return scenario.threads.isEmpty ? .noThreads : nil
    }

    /// Why a run has no verdict; `nil` if it has one.
    func inconclusive(of run: rl_run) -> Exploration.Inconclusive? {
        if let mistake = scenario.mistake { return .malformedScenario(mistake) }
        switch run.status {
        case RL_BLOCKED, RL_SILENT: return run.stuck(names: names(of: run))
        case RL_TOO_MANY:
            return .tooManyThreads(thread: names(of: run)[max(0, Int(run.misfit_thread))])
        default: return nil
        }
    }

    private var named: [String] { scenario.threads.map(\.name) }

    func names(of run: rl_run) -> [String] {
        started(in: run).names(after: named)
    }

    private func started(in run: rl_run) -> StartedThreads {
        StartedThreads(
            count: Int(run.thread_count), tasks: run.tasks, queueThreads: run.queue_threads)
    }

    /// Reads a schedule, which may name any number of threads. If `threads` is empty, the scenario is
    /// set up to learn their names; what it makes is released unused.
    func read(
        _ schedule: String, _ threads: [String] = []
    ) throws(Exploration.ReplayError) -> Exploration.Schedule {
        let known = threads.isEmpty ? try describedThreads() : threads
        let names = StartedThreads(count: Int(RL_MAX_THREADS)).names(after: known)
        do throws(Exploration.Schedule.Malformed) {
            return try Exploration.Schedule(schedule, threads: names)
        } catch {
            throw .malformed(error)
        }
    }

    private func describedThreads() throws(Exploration.ReplayError) -> [String] {
        onlyDescribes = true
        defer { onlyDescribes = false }
        _ = run { run in
            self.inconclusive = self.inconclusive(of: run)
            return false
        }
        if let inconclusive = inconclusive ?? inconclusive(of: scenario) {
            throw .inconclusive(inconclusive)
        }
        return named
    }

    private func tally(_ run: rl_run) -> Bool {
        threads.formUnion(started(in: run))
        if let inconclusive = inconclusive(of: run) {
            self.inconclusive = inconclusive
            return false
        }
        switch run.status {
        case RL_TOO_LONG:
            let text = run.schedule.prefix(40).text(threads: threads.names(after: named))
            inconclusive = .tooLong(
                steps: Int(options.stepsAllowed), schedule: "\(text)…", place: run.lastPlace)
            return false
        case RL_NOT_THE_SAME, RL_OUTSIDE:
            lastPlaces = run.places + run.allWaiting.map { UInt($0.pc) }
            return false
        default:
            break
        }
        while accesses.count < scenario.threads.count { accesses.append(0) }
        for thread in scenario.threads.indices {
            accesses[thread] = max(accesses[thread], run.accesses(of: thread))
        }
        let causes = causes(of: run)
        if first == nil {
            first = recording(of: run, causes: causes)
            if !begins(run, causes) { return false }
        }
        let smallest = causes.isEmpty ? nil : search?.fewestSwitches()
        for cause in causes {
            let fresh = Tally(firstSeen: tallies.count)
            tallies[cause, default: fresh].add(run, smallest)
        }
        found.count(causes.lazy.map(\.kind))
        if passingSchedule == nil, causes.isEmpty { passingSchedule = run.schedule }
        stopped =
            options.stopsAtFirstFailure
            && causes.contains { options.failingKinds.contains($0.kind) }
        return !stopped
    }

    /// All findings in a run, without duplicates.
    func causes(of run: rl_run) -> [FindingKey] {
        var causes = run.judge_waits ? judged : []
        judged = []
        outcome = nil
        if run.status == RL_CRASHES {
            let schedule = run.schedule
            let known = crashes.first { $0.schedule == schedule }
            causes.append(.said(.crash, known?.reason ?? ""))
        }
        if run.status == RL_DEADLOCK {
            let isLivelock = run.allWaiting.contains { !$0.finished && $0.busy }
            let reason = run.deadlock(names: names(of: run), judge: judging)
            causes.append(.said(isLivelock ? .livelock : .deadlock, reason))
        }
        for (thread, error) in uncaught {
            let name = scenario.threads[thread].name
            causes.append(.said(.uncaughtError, "'\(name)' threw \(words(of: error))"))
        }
        if run.status == RL_COMPLETE {
            judging = "a check"
            let failure = failedCheck()
            judging = "the outcome"
            if let failure {
                judged = [.said(.failedCheck, failure)]
            } else if let outcome = scenario.readOutcome?() {
                self.outcome = outcome
                outcomes[outcome, default: 0] += 1
                if let reason = scenario.objection(to: outcome) {
                    judged = [.said(.forbiddenOutcome, reason)]
                }
            }
            causes += judged
        }
        judging = "the end of an object"
        if run.status == RL_COMPLETE { scenario.letGo() }
        let others =
            misuses(names: names(of: run)).map { FindingKey.said(.misuse, $0) }
            + run.allRaces.map { key(of: $0) }
        for cause in others where !causes.contains(cause) { causes.append(cause) }
        return causes
    }

    func key(of race: rl_race) -> FindingKey {
        FindingKey.race(
            race.accesses.map(representative), overlap: race.overlap, isKnown: race.is_known
        ).counted(by: options.failingKinds)
    }

    /// The first access that was seen on the same line: a finding names only the lines, so races
    /// between the same two lines are one finding.
    private func representative(of access: Access) -> Access {
        if let known = representatives[access] { return known }
        let line = Exploration.Site.name(Symbols.sites(of: [access])[access.pc])
        let first = firstOnLine[line] ?? access
        firstOnLine[line] = first
        representatives[access] = first
        return first
    }

    func failedCheck() -> String? {
        for check in scenario.checks {
            do {
                try check()
            } catch {
                return words(of: error)
            }
        }
        return nil
    }

    func words(of error: any Error) -> String {
        let words = "\(error)"
        return words.isEmpty ? "an error without a description" : words
    }
}

extension Exploration.Limit {
    fileprivate init?(_ bound: rl_bound) {
        switch bound {
        case RL_BOUND_RUNS: self = .interleavings
        case RL_BOUND_EXECUTED: self = .runs
        case RL_BOUND_TIME: self = .time
        default: return nil
        }
    }
}
