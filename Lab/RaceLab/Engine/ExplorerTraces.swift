import CRaceLab

/// Replays one interleaving: records its trace, and finds the step from which every continuation
/// fails.
extension Explorer {
    /// Records the same trace as ``trace(of:learning:)`` and marks the step from which every
    /// continuation fails.
    ///
    /// - Parameters:
    ///   - kind: a continuation fails if it has a finding of this kind or a more informative one;
    ///     `nil`: of the most informative kind that this interleaving shows.
    ///   - finding: if it is a data race, its two steps are marked; `nil`: those of any race.
    func markedTrace(
        of schedule: Exploration.Schedule, failingBy kind: Exploration.Finding.Kind? = nil,
        showing finding: Exploration.Finding? = nil, learning: Bool = true
    ) throws(Exploration.ReplayError) -> Exploration.Trace {
        shown = finding?.description
        var trace = try trace(of: schedule, learning: learning)
        let judged = trace.findings.map(\.kind).filter(options.failingKinds.contains)
        // Whether a continuation survives is the same in every order of independent steps.
        var fewest = options
        fewest.reduction = true
        guard let kind = kind ?? judged.min(), ![.overlap, .dataRace].contains(kind),
            let step = Explorer(fewest, describe, crashes: crashes).pointOfNoReturn(
                of: trace.schedule, kind)
        else { return trace }
        for index in trace.steps.indices { trace.steps[index].mark = nil }
        trace.mark(step: step, "every continuation fails from here")
        return trace
    }

    /// Runs one interleaving and records its trace. If the schedule does not fit, it runs again. In
    /// the first run, lazy initialization can make a loop spin one more round. And reading a state
    /// can change it, such as that of a lazy property: then the trace is without states.
    ///
    /// - Parameter learning: whether to explore if it does not fit. The process that printed the
    ///   schedule knew what is a step: see Primitives/unannounced.c.
    func trace(
        of schedule: Exploration.Schedule, learning: Bool = true
    ) throws(Exploration.ReplayError) -> Exploration.Trace {
        defer { readsStates = true }
        for change in [learning ? learnSteps : {}, { self.readsStates = false }] {
            do throws(Exploration.ReplayError) {
                return try traceOnce(of: schedule)
            } catch {
                guard case .mismatch = error else { throw error }
                change()
            }
        }
        return try traceOnce(of: schedule)
    }

    private func learnSteps() {
        var few = options
        few.maximumInterleavings = 2_000
        few.maximumTime = .seconds(5)
        _ = Explorer(few, describe, crashes: crashes).explored()
    }

    private func traceOnce(of schedule: Exploration.Schedule) throws(Exploration.ReplayError)
        -> Exploration.Trace
    {
        let states = readStates()
        var trace: Exploration.Trace?
        var mismatch: Exploration.ScheduleMismatch?
        let summary = run(schedule) { run in
            defer { Notes.stop() }
            if let inconclusive = self.inconclusive(of: run) {
                self.inconclusive = inconclusive
            } else if run.status == RL_MISFIT {
                mismatch = run.mismatch(to: schedule, names: self.names(of: run))
            } else if run.status != RL_OUTSIDE {
                trace = self.trace(run, states)
            }
            return false
        }
        if let inconclusive { throw .inconclusive(inconclusive) }
        if let mismatch { throw .mismatch(mismatch) }
        if let trace { return trace }
        throw .inconclusive(self.inconclusive(after: summary) ?? .noThreads)
    }

    /// The first step of a failing interleaving after which every continuation has a finding of
    /// this kind or of a more informative one; `nil` if there is none, or if a bound leaves it
    /// unknown.
    func pointOfNoReturn(of schedule: Exploration.Schedule, _ kind: Exploration.Finding.Kind)
        -> Int?
    {
        setDeadline()
        for length in schedule.choices.indices.reversed() {
            var survivor = false
            let summary = run(schedule.prefix(length), andBeyond: true) { run in
                let isJudged = [RL_COMPLETE, RL_DEADLOCK, RL_CRASHES].contains(run.status)
                let causes = isJudged ? self.causes(of: run) : []
                survivor = !causes.contains {
                    $0.kind <= kind && self.options.failingKinds.contains($0.kind)
                }
                return !survivor
            }
            if survivor { return length }
            let isBounded = search?.reachedPreemptionBound == true
            if isBounded || summary.bound != RL_NO_BOUND { return nil }
        }
        return nil
    }

    func trace(_ run: rl_run, _ states: ReadStates) -> Exploration.Trace {
        // First of all: to judge the run, the scenario releases objects.
        let objects = Objects(of: run)
        let causes = causes(of: run)
        var result = Exploration.Trace(
            threads: names(of: run),
            columns: scenario.columns.prefix(states.initial.count).map(\.title),
            initial: states.initial,
            steps: Exploration.Trace.Step.all(of: run.allSteps) { states.afterSteps[$0] },
            findings: causes.map { Exploration.Finding($0, count: 1, schedule: run.schedule) },
            waiting: Exploration.Trace.Waiting.all(of: run))
        result.add(notes: Notes.stop())
        result.name(objects, touched: states.touched)
        let precedingSteps = search?.precedingSteps() ?? []
        for (step, preceding) in precedingSteps.enumerated() where step < result.steps.count {
            result.steps[step].preceding = preceding
        }
        let races = run.allRaces.filter {
            options.failingKinds.contains(.dataRace)
                || $0.overlap && options.failingKinds.contains(.overlap)
        }
        let isShown = { (race: rl_race) in
            Exploration.Finding(self.key(of: race), count: 1, schedule: run.schedule).description
                == self.shown
        }
        if let race = races.first(where: isShown) ?? races.first {
            let word = race.overlap ? "overlaps" : "races"
            result.mark(
                step: Int(race.second_step), "\(word) with step \(race.first_step + 1)")
        }
        return result
    }
}

/// Records interleavings of one scenario, with the order of their dependent steps: see
/// ``Exploration/Trace/Step/preceding``. It runs in this process, whatever
/// ``Exploration/Options/isolation`` says.
package final class Recorder {
    private let explorer: Explorer
    /// Whether the engine starts over when it explores the scenario.
    private let startsOver: Bool

    /// - Parameter exploration: what is known about the scenario.
    package init(_ exploration: Exploration) {
        explorer = exploration.program.explorer
        startsOver = exploration.result.startedOver
    }

    /// An interleaving that begins with these steps; `nil` if there is none.
    package func interleaving(
        beginningWith steps: Exploration.Schedule
    ) throws(Exploration.ReplayError) -> Exploration.Trace? {
        var found: Exploration.Trace?
        try visitKinds(beginningWith: steps) {
            found = $0
            return false
        }
        return found
    }

    /// Passes one interleaving of each equivalence class to `visit`, which returns `false` to stop.
    /// If the options explore every order, it passes every interleaving. It ends at the same bounds
    /// as the exploration.
    ///
    /// - Parameter prefix: every interleaving begins with these steps; `nil`: with any.
    package func visitKinds(
        beginningWith prefix: Exploration.Schedule? = nil,
        _ visit: @escaping (Exploration.Trace) -> Bool
    ) throws(Exploration.ReplayError) {
        let explorer = explorer
        rl_hold_explorations()
        defer { rl_release_explorations() }
        if prefix == nil, startsOver {
            // It does so before the first visit, so that no interleaving is visited twice.
            // The checks, too, may show that it has to.
            _ = explorer.run { run in
                defer { Notes.stop() }
                _ = explorer.causes(of: run)
                return true
            }
        }
        let states = explorer.readStates()
        var found: Exploration.Inconclusive?
        let summary = explorer.run(prefix, andBeyond: prefix != nil, continuing: true) { run in
            defer { Notes.stop() }
            found = explorer.inconclusive(of: run)
            guard found == nil, [RL_COMPLETE, RL_DEADLOCK].contains(run.status) else {
                return false
            }
            return visit(explorer.trace(run, states))
        }
        if let found = found ?? explorer.inconclusive ?? explorer.inconclusive(after: summary) {
            throw .inconclusive(found)
        }
    }
}
