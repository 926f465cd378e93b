// Runs one interleaving again and records it step by step.

import CRaceLab

extension Exploration {
    /// Why an interleaving could not be run again.
    public enum ReplayError: Error, Hashable, Codable, Sendable, CustomStringConvertible {
        /// The schedule does not fit the scenario.
        case mismatch(ScheduleMismatch)
        /// The text is not a schedule.
        case malformed(Schedule.Malformed)
        /// The lab cannot work, cannot control what the scenario does, or there is nothing to run.
        case inconclusive(Inconclusive)

        public var description: String {
            switch self {
            case .mismatch(let mismatch): mismatch.description
            case .malformed(let malformed): malformed.description
            case .inconclusive(let reason): reason.description
            }
        }
    }

    /// Where and why a schedule does not fit the scenario.
    public struct ScheduleMismatch: Hashable, Codable, Sendable, CustomStringConvertible {
        /// The first step that does not fit, counted from 1.
        public let step: Int
        /// Whether the thread that the schedule names for this step waits for another thread.
        public let isWaiting: Bool
        /// The step and the reason, in a sentence.
        public let description: String
    }

    /// An interleaving that begins with the steps of a schedule.
    public struct CompletedReplay: Sendable {
        /// The complete interleaving.
        public let trace: Trace
        /// Where the prefix does not fit the scenario; `nil` if all of it fits. It was followed up
        /// to there.
        public let mismatch: ScheduleMismatch?
    }

    // MARK: With an exploration

    /// Runs the interleaving of a finding's ``Finding/schedule``. Unless the finding is a crash, a
    /// data race or an overlapping modification, marks the step from which every continuation
    /// fails.
    ///
    /// - Parameter finding: one of ``findings`` or ``otherFindings``; `nil`: the most informative
    ///   of ``findings``.
    /// - Returns: `nil` if nothing was found.
    public func counterexample(showing finding: Finding? = nil) throws(ReplayError) -> Trace? {
        guard let finding = finding ?? findings.first else { return nil }
        return try program.counterexample(showing: finding)
    }

    /// Runs the scenario under one interleaving and records what happens, step by step.
    public func replay(_ schedule: Schedule) throws(ReplayError) -> Trace {
        try program.replay(schedule)
    }

    /// Runs the scenario under one interleaving and records what happens, step by step.
    ///
    /// - Parameter schedule: the text of a ``Schedule``.
    public func replay(_ schedule: String) throws(ReplayError) -> Trace {
        try program.replay(schedule, threads: threads)
    }

    /// Runs the scenario under an interleaving that begins with the steps of a schedule, and
    /// records what happens.
    ///
    /// After these steps, the lab chooses at each step the first thread, in the order in which they
    /// were added, that can continue: a schedule written by hand may leave out the steps at the
    /// end. If the schedule does not fit the scenario, it is followed as far as it fits. The
    /// scenario runs at least once for each step that the schedule does not give.
    public func replay(prefix schedule: Schedule) throws(ReplayError) -> CompletedReplay {
        try program.replay(prefix: schedule)
    }

    // MARK: Without an exploration

    /// Runs a scenario under one interleaving, without exploring it, and records what happens.
    public static func replay(
        _ schedule: Schedule, options: Options = Options(),
        _ scenario: @escaping @isolated(any) (Scenario) -> Void
    ) throws(ReplayError) -> Trace {
        try Program(options, scenario).replay(schedule)
    }

    /// Runs a scenario under one interleaving, without exploring it, and records what happens.
    ///
    /// Before that, the scenario is set up once for the names of its threads. What it makes then is
    /// released unused. An exploration knows the names, so its own `replay` does not do that.
    ///
    /// - Parameters:
    ///   - schedule: the text of a ``Schedule``.
    ///   - options: as for ``explore(options:_:)``.
    ///   - scenario: as for ``explore(options:_:)``.
    public static func replay(
        _ schedule: String, options: Options = Options(),
        _ scenario: @escaping @isolated(any) (Scenario) -> Void
    ) throws(ReplayError) -> Trace {
        try Program(options, scenario).replay(schedule)
    }

    /// Runs a scenario under an interleaving that begins with the steps of a schedule, without
    /// exploring it: see ``replay(prefix:)``.
    public static func replay(
        prefix schedule: Schedule, options: Options = Options(),
        _ scenario: @escaping @isolated(any) (Scenario) -> Void
    ) throws(ReplayError) -> CompletedReplay {
        try Program(options, scenario).replay(prefix: schedule)
    }

    /// Runs a scenario under an interleaving that begins with the steps of a schedule, given as
    /// text, without exploring it: see ``replay(prefix:)``.
    public static func replay(
        prefix schedule: String, options: Options = Options(),
        _ scenario: @escaping @isolated(any) (Scenario) -> Void
    ) throws(ReplayError) -> CompletedReplay {
        let program = Program(options, scenario)
        return try program.replay(prefix: program.explorer.read(schedule))
    }
}

extension Program {
    func counterexample(
        showing finding: Exploration.Finding
    ) throws(Exploration.ReplayError) -> Exploration.Trace {
        if let isolated { return try isolated.counterexample(showing: finding) }
        return try explorer.markedTrace(
            of: finding.schedule, failingBy: finding.kind, showing: finding)
    }

    func replay(
        _ text: String, threads: [String] = []
    ) throws(Exploration.ReplayError) -> Exploration.Trace {
        try replay { (explorer) throws(Exploration.ReplayError) in
            try explorer.read(text, threads)
        }
    }

    func replay(
        _ schedule: Exploration.Schedule, learning: Bool = true
    ) throws(Exploration.ReplayError) -> Exploration.Trace {
        try replay(learning: learning) { _ in schedule }
    }

    /// - Parameters:
    ///   - learning: see ``Explorer/trace(of:learning:)``.
    ///   - schedule: returns the schedule; an explorer can read its text.
    private func replay(
        learning: Bool = true,
        _ schedule: @escaping (Explorer) throws(Exploration.ReplayError) -> Exploration.Schedule
    ) throws(Exploration.ReplayError) -> Exploration.Trace {
        if let isolated { return try isolated.trace(of: schedule) }
        let explorer = explorer
        let schedule = try schedule(explorer)
        return try options.marksPointOfNoReturn
            ? explorer.markedTrace(of: schedule, learning: learning)
            : explorer.trace(of: schedule, learning: learning)
    }

    /// Replays a schedule that may be incomplete, and completes it: see
    /// ``Exploration/replay(prefix:)``.
    func replay(
        prefix schedule: Exploration.Schedule
    ) throws(Exploration.ReplayError) -> Exploration.CompletedReplay {
        var choices = schedule.choices
        var marks = schedule.marks
        var given = choices.count
        var reported: Exploration.ScheduleMismatch?
        if choices.isEmpty { choices = [0] }
        // What is learned once holds for all attempts.
        var learning = true
        while true {
            defer { learning = false }
            let mismatch: Exploration.ScheduleMismatch
            do throws(Exploration.ReplayError) {
                let trace = try replay(
                    Exploration.Schedule(choices, marks: marks), learning: learning)
                return Exploration.CompletedReplay(trace: trace, mismatch: reported)
            } catch {
                guard case .mismatch(let found) = error else { throw error }
                mismatch = found
            }
            let isTooShort = mismatch.step > choices.count
            if isTooShort {
                choices.append(0)
            } else if mismatch.step <= given {
                reported = mismatch
                given = mismatch.step - 1
                choices = given == 0 ? [0] : Array(choices.prefix(given))
                marks = schedule.prefix(given).marks
            } else if choices[choices.count - 1] < Int(RL_MAX_THREADS) {
                // This thread cannot continue: try the next one.
                choices[choices.count - 1] += 1
            } else {
                throw .mismatch(mismatch)
            }
        }
    }
}
