import CRaceLab

/// What the search needs to know about an exploration.
package struct SearchSettings {
    /// Whether interleavings that differ only in the order of independent steps are left out.
    package var reduces = true
    /// The length of the schedule with which every run begins.
    package var given = 0
    /// Applies without reduction, and when sampling. `nil`: any number.
    package var preemptionBound: Int?
    /// What is drawn, instead of exploring every interleaving.
    package var sampling: (method: Exploration.Options.Sampling, runs: Int, seed: UInt64)?
    /// RL_LIBERTY_…
    package var liberties: UInt32 = 0
    /// RL_FAULT_…
    package var faults: UInt32 = 0

    package init() {}
}

/// Decides, between two runs, what is run next. It knows a run only as the engine has recorded it,
/// and runs no code under test.
package final class Search {
    private let counts: ReferenceCounts
    private let settings: SearchSettings
    private var reduction: Reduction
    private var every: EveryInterleaving
    private var fewest: FewestSwitches?
    private(set) var sampling: Sampling?

    /// - Parameter other: a search that has found out what matters about reference counts.
    package init(_ settings: SearchSettings, continuing other: Search? = nil) {
        self.settings = settings
        counts = other?.counts ?? ReferenceCounts()
        reduction = Reduction(settings, counts)
        every = EveryInterleaving(settings)
        sampling = Search.sampling(settings)
    }

    private static func sampling(_ settings: SearchSettings) -> Sampling? {
        settings.sampling.map {
            Sampling(
                $0.method, runs: $0.runs, seed: $0.seed, preemptionBound: settings.preemptionBound)
        }
    }

    deinit {
        reduction.deallocate()
        every.deallocate()
        fewest?.deallocate()
        sampling?.deallocate()
    }

    /// What the engine needs to know during a run about reference counts.
    package var knownCounts: UnsafePointer<rl_known_counts> { UnsafePointer(counts.known) }

    /// Whether the preemption bound has left out an interleaving.
    package var reachedPreemptionBound: Bool { every.reachedPreemptionBound }

    /// Forgets the runs so far, but not what they have shown about reference counts.
    package func startOver() {
        reduction.startOver()
        every.deallocate()
        every = EveryInterleaving(settings)
        sampling?.deallocate()
        sampling = Search.sampling(settings)
    }

    /// Examines a run. Returns false if it has shown something that the earlier ones should have
    /// taken into account: the exploration starts over.
    package func learn(from run: UnsafePointer<rl_execution>) -> Bool {
        if sampling != nil {
            sampling?.learn(from: run)
            // What is drawn does not depend on reference counts.
            _ = counts.learn(from: run)
            reduction.read(run)
            return true
        }
        guard settings.reduces else {
            every.learn(from: run)
            return true
        }
        if counts.learn(from: run) { return false }
        reduction.learn(from: run)
        return true
    }

    /// Decides what is run next. Returns false if everything has been explored.
    package func choose(_ plan: UnsafeMutablePointer<rl_plan>) -> Bool {
        if sampling != nil { return sampling!.choose(plan) }
        return settings.reduces ? reduction.choose(plan) : every.choose(plan)
    }

    /// What has been covered if the search stops now; `nil` when it draws interleavings.
    var progress: SearchProgress? {
        if sampling != nil { return nil }
        return settings.reduces ? reduction.progress : every.progress
    }

    /// For each step of the last run and each thread, how many of the thread's steps precede it in
    /// every equivalent interleaving, the step itself included; empty if that is unknown.
    func precedingSteps() -> [[Int]] {
        guard settings.reduces else { return [] }
        let execution = reduction.execution
        return (0..<execution.count).map { step in
            let clock = execution.clock(of: step)
            return (0..<execution.threadCount).map { Int(clock[$0]) }
        }
    }

    /// Of the interleavings equivalent to the last run, the one with the fewest context switches;
    /// `nil` if it is unknown.
    func fewestSwitches() -> FewestSwitches.Interleaving? {
        guard settings.reduces, reduction.execution.count > 0,
            reduction.execution.record.pointee.status != RL_CRASHES
        else { return nil }
        if sampling != nil { reduction.orderSteps() }
        if fewest == nil { fewest = FewestSwitches() }
        return fewest!.find(reduction.execution)
    }
}
