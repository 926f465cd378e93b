import CRaceLab

/// Runs the engine and implements its callbacks.
extension Explorer {
    /// - Parameter judge: judges a run that has ended; returns whether to continue with the next.
    func run(
        _ schedule: Exploration.Schedule? = nil, andBeyond: Bool = false, continuing: Bool = false,
        judge: @escaping (rl_run) -> Bool
    ) -> rl_summary {
        inconclusive = nil
        self.judge = judge
        defer {
            // They keep this object alive.
            self.judge = nil
            wasSetUp = nil
            stepped = nil
        }
        if let why = Exploration.unavailable {
            inconclusive = .unavailable(why)
            return rl_summary()
        }
        if let blind = Families.inconclusive {
            inconclusive = blind
            return rl_summary()
        }
        _ = unavailableTasks
        var configuration = rl_scenario()
        configuration.context = Unmanaged.passUnretained(self).toOpaque()
        configuration.set_up = { context in Explorer.from(context).setUp() }
        configuration.body = { context, thread in Explorer.from(context).runBody(Int(thread)) }
        configuration.finished = { context, run in
            let explorer = Explorer.from(context)
            return explorer.judge!(run!.pointee)
        }
        configuration.ends = { context, run, end in
            Explorer.from(context).report(end!.pointee, in: run!.pointee)
        }
        configuration.is_compilers_own = { pc in Symbols.isCompilersOwn(UInt(pc)) }
        if stepped != nil {
            configuration.stepped = { context, step in Explorer.from(context).stepped?(Int(step)) }
        }
        let isSampled = schedule == nil && options.strategy != .exhaustive
        // A sampled run is recorded like that, for the equivalent one with the fewest switches.
        configuration.reduce =
            isSampled || options.reduction && options.preemptionBound == nil
        configuration.max_runs =
            isSampled ? .max : UInt64(max(1, options.maximumInterleavings))
        // An exploration keeps stores only after it has found that the code can read old ones.
        let isReplay = schedule != nil && !andBeyond
        let keepsStores = isReplay || schedule?.readsOldValues == true
        configuration.keeps_stores = options.memory == .weak && keepsStores
        configuration.finds_weak_orderings = options.memory == .weak && !keepsStores
        configuration.matters = matters
        configuration.seed = options.randomSeed
        configuration.exploration = number
        configuration.liberties = options.liberties
        configuration.max_executed = UInt64(options.maximumRuns.map { max(1, $0) } ?? 0)
        let isOnItsOwn = deadline == nil
        if isOnItsOwn { setDeadline() }
        defer { if isOnItsOwn { deadline = nil } }
        configuration.max_milliseconds = millisecondsLeft
        if options.progress != nil {
            began = .now
            configuration.progressed = { context, runs, redundant in
                let explorer = Explorer.from(context)
                explorer.options.progress?(
                    .init(runs: runs, redundant: redundant, since: explorer.began))
            }
        }
        configuration.max_steps = options.stepsAllowed
        if let instead = options.instead { configuration.instead = instead.ofEngine }
        configuration.faults = options.faults
        let crashes = KnownCrashes(self.crashes)
        configuration.crashes = crashes.all
        configuration.crash_count = self.crashes.count
        defer { withExtendedLifetime(crashes) {} }
        let choices = schedule?.choicesOfEngine ?? []
        let search = search(
            for: configuration, given: choices.count, isSampled: isSampled, continuing: continuing)
        configuration.counts = search.knownCounts
        if schedule == nil || andBeyond {
            configuration.learn = { Explorer.from($0).learn(from: $1!) }
            configuration.started_over = { Explorer.from($0).remember($1!.pointee.places) }
            configuration.choose = { Explorer.from($0).search!.choose($1!) }
            configuration.reached_bound = { context in
                let explorer = Explorer.from(context)
                explorer.progress = explorer.search!.progress
            }
        }
        let neverEmpty: [UInt32] = choices + [0]
        return neverEmpty.withUnsafeBufferPointer { buffer in
            if schedule != nil {
                configuration.schedule = buffer.baseAddress
                configuration.schedule_length = UInt32(choices.count)
                configuration.beyond = andBeyond
            }
            return withExtendedLifetime(self) {
                var summary = rl_explore(&configuration)
                while summary.starts_again {
                    noteOlderChange(summary)
                    forgetRuns()
                    matters = summary.matters
                    configuration.matters = matters
                    if configuration.finds_weak_orderings, summary.has_weak_orderings {
                        configuration.keeps_stores = true
                        configuration.finds_weak_orderings = false
                    }
                    search.startOver()
                    configuration.max_milliseconds = millisecondsLeft
                    summary = rl_explore(&configuration)
                }
                noteOlderChange(summary)
                if summary.status == RL_OUTSIDE {
                    let what = String(cString: summary.outside)
                    inconclusive = rl_run.outside(what, at: summary.outside_pc)
                }
                return summary
            }
        }
    }

    private func search(
        for configuration: rl_scenario, given: Int, isSampled: Bool, continuing: Bool
    ) -> Search {
        var settings = SearchSettings()
        if isSampled, case .sampled(let method, let runs, let seed) = options.strategy {
            settings.sampling = (method, runs, seed)
        }
        settings.reduces = configuration.reduce
        settings.given = given
        settings.preemptionBound = options.preemptionBound.flatMap { $0 < 0 ? nil : $0 }
        settings.liberties = configuration.liberties
        settings.faults = configuration.faults
        let search = Search(settings, continuing: continuing ? self.search : nil)
        self.search = search
        return search
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> Explorer {
        Unmanaged<Explorer>.fromOpaque(context!).takeUnretainedValue()
    }

    private func setUp() -> Int32 {
        // Without the objects of the run before, those of this one get the same addresses.
        scenario = noScenario
        uncaught = []
        scenario = Scenario()
        describe(scenario)
        scenario.endDescription()
        // The engine runs nothing if there are no threads.
        if scenario.mistake != nil || onlyDescribes { return 0 }
        reporter?.isSetUp(scenario)
        wasSetUp?()
        return Int32(scenario.threads.count)
    }

    private func runBody(_ index: Int) {
        let body = scenario.threads[index].body
        if let task = scenario.threads[index].task {
            return startTask(task) { self.uncaught.append((index, $0)) }
        }
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

    /// What must be equal in every run of the first interleaving, whatever the process has
    /// initialized meanwhile.
    struct Beginning: Equatable {
        let failure: String?
        let outcome: String?
    }

    /// Compares the first run with one of the same interleaving that was not counted. Returns false
    /// if an earlier run has left state behind.
    func begins(_ run: rl_run, _ causes: [FindingKey]) -> Bool {
        guard run.status == RL_COMPLETE else { return true }
        let failure = causes.first { $0.kind == .failedCheck }?.reason
        let this = Beginning(failure: failure, outcome: outcome)
        defer { beginning = beginning ?? this }
        if let beginning, beginning != this {
            inconclusive = LikelyCause(run.places).inconclusive
            return false
        }
        return true
    }

    /// Examines a run for the search, see `rl_scenario.learn`.
    func learn(from run: UnsafePointer<rl_execution>) -> Bool {
        if search!.learn(from: run) { return true }
        if beginning == nil, first == nil, run.pointee.status == RL_COMPLETE {
            let failure = failedCheck()
            beginning = Beginning(
                failure: failure, outcome: failure == nil ? scenario.readOutcome?() : nil)
            scenario.letGo()
        }
        return false
    }
}

extension Exploration.Options {
    fileprivate var liberties: UInt32 {
        (timeOutsFireAtAnyTime ? UInt32(RL_LIBERTY_TIME_OUTS) : 0)
            | (signalsWakeAnyWaiter ? UInt32(RL_LIBERTY_ANY_WAITER) : 0)
            | (spuriousWakeups ? UInt32(RL_LIBERTY_SPURIOUS) : 0)
    }
}
