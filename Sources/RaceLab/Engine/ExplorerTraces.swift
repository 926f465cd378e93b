import CRaceLab

/// One interleaving looked at closely: run again and written down step by step, made as short as can
/// be, and asked from where on it was lost.
extension Explorer {
    func replay(_ schedule: Schedule) throws -> Trace {
        try options.marksPointOfNoReturn ? markedTrace(of: schedule) : trace(of: schedule)
    }

    /// The same as ``trace(of:)``, with the step marked from which every interleaving fails.
    ///
    /// - Parameter kind: fails like this, or in a more telling way; `nil`: as this one does.
    func markedTrace(of schedule: Schedule, failingBy kind: Finding.Kind? = nil) throws -> Trace {
        var trace = try trace(of: schedule)
        let judged = trace.findings.map(\.kind).filter(options.judging.contains)
        guard let kind = kind ?? judged.min(), ![.overlap, .dataRace].contains(kind),
            let step = Explorer(options, describe).pointOfNoReturn(of: trace.schedule, kind)
        else { return trace }
        trace.clearMarks()
        trace.mark(step: step, "every continuation fails from here")
        return trace
    }

    /// Runs one interleaving and writes down everything about it. One that does not fit is run twice:
    /// a loop may spin one round longer where something is made for the first time.
    func trace(of schedule: Schedule) throws -> Trace {
        do {
            return try traceOnce(of: schedule)
        } catch is Misfit {
            return try traceOnce(of: schedule)
        }
    }

    private func traceOnce(of schedule: Schedule) throws -> Trace {
        var initial: [String] = []
        var states: [Int: [String]] = [:]
        var touched: [Set<UInt>] = []
        let look = {
            let observations = self.scenario.columns.map { Observation($0.read) }
            if touched.isEmpty { touched = observations.map { _ in [] } }
            for (column, seen) in observations.enumerated() {
                touched[column].formUnion(seen.touched)
            }
            return observations.texts
        }
        var trace: Trace?
        var misfit: Misfit?
        wasSetUp = {
            // Here, not earlier: now the lab is ours, and no other exploration writes notes.
            Notes.start(self.herald)
            initial = look() ?? self.scenario.columns.map { _ in Trace.locked }
            self.herald?.tell(.initial(initial))
        }
        stepped = { step in
            guard let state = look() else { return }
            states[step] = state
            self.herald?.tell(.states(step: step, state))
        }
        judge = { run in
            if let obstacle = self.obstacle(of: run) {
                self.obstacle = obstacle
            } else if run.status == RL_MISFIT {
                misfit = run.misfit(to: schedule, names: self.names(of: run))
            } else if run.status != RL_OUTSIDE {
                trace = self.trace(run, initial: initial, states: states)
                trace?.name(Objects(of: run), touched: touched)
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

    /// The first step of a failing interleaving after which every continuation fails: shows something
    /// of this kind, or of a more telling one.
    func pointOfNoReturn(of schedule: Schedule, _ kind: Finding.Kind) -> Int? {
        for length in schedule.choices.indices.reversed() {
            var survivor = false
            judge = { run in
                let causes =
                    [RL_COMPLETE, RL_DEADLOCK, RL_CRASHES].contains(run.status)
                    ? self.causes(of: run) : []
                survivor = !causes.contains {
                    $0.kind <= kind && self.options.judging.contains($0.kind)
                }
                return !survivor
            }
            let summary = run(schedule.prefix(length), andBeyond: true)
            if survivor { return length }
            if summary.bound != RL_NO_BOUND || summary.preemption_bound_reached { return nil }
        }
        return nil
    }

    func trace(_ run: rl_run, initial: [String], states: [Int: [String]]) -> Trace {
        let causes = causes(of: run)
        var result = Trace(
            threads: names(of: run), columns: scenario.columns.map(\.title),
            initial: initial,
            steps: Trace.Step.all(of: run.allSteps) { states[$0] },
            findings: causes.map { Finding($0, count: 1, schedule: run.schedule) },
            waiting: Trace.Waiting.all(of: run))
        for race in run.allRaces
        where
            options.judging.contains(.dataRace)
            || race.overlap && options.judging.contains(.overlap)
        {
            let word = race.overlap ? "overlaps" : "races"
            result.mark(
                step: Int(race.second_step), "\(word) with step \(race.first_step + 1)")
            break
        }
        return result
    }
}
