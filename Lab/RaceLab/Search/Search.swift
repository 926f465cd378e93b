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

/// What a search that was stopped has covered.
struct SearchProgress {
    /// The share of the tree of interleavings, estimated from the alternatives that are known;
    /// `nil` if no such estimate can be made.
    var share: Double?
    /// Everything that begins with these choices has been explored.
    var beginning: [UInt32]?
    /// Everything with fewer preemptions than this has been explored.
    var preemptions: Int?
    /// The places in the code of the two dependent steps that have led to the most alternatives.
    var places: (first: UInt, second: UInt)?
}

extension Reduction {
    /// What has been covered when the next run has been chosen but not made.
    ///
    /// The estimate is that of Knuth ("Estimating the Efficiency of Backtrack Programs",
    /// Mathematics of Computation 1975), as used for the progress of a depth-first search by Kilby,
    /// Slaney, Thiébaux and Walsh (AAAI 2006): all subtrees of a node count the same.
    var progress: SearchProgress {
        var progress = SearchProgress()
        var (share, weight) = (0.0, 1.0)
        for k in firstNode...max(firstNode, chosen) {
            let isInProgress = k < chosen
            var done = nodes[k].explored.enabled
            if isInProgress { done &= ~(1 << UInt32(execution.steps[k].thread)) }
            let left = max(trees.count(nodes[k].wishes), alternatives(to: k))
            let all = Double(done.nonzeroBitCount + 1 + left)
            share += weight * Double(done.nonzeroBitCount) / all
            weight /= all
        }
        progress.share = share
        progress.beginning = (0...chosen).map { rl_choice(execution.record.pointee.steps + $0) }
        progress.places = races.most
        return progress
    }

    /// How many other threads could go first at a node, as far as the last run shows: those that
    /// later make a step which depends on this one. The search itself learns of most of them only
    /// in later runs.
    private func alternatives(to node: Int) -> Int {
        let step = execution.steps[node]
        var threads: rl_thread_set = 0
        for k in node + 1..<max(node + 1, execution.count) {
            let later = execution.steps[k]
            for e in Int(later.firstEffect)..<Int(later.endEffect) {
                let conflict = rl_first_conflict(
                    execution.effects + Int(step.firstEffect),
                    execution.effects + Int(step.endEffect), execution.effects + e)
                if conflict != nil { threads |= 1 << UInt32(later.thread) }
            }
        }
        let known = nodes[node].explored.enabled | nodes[node].sleep.threads
        let others = known | 1 << UInt32(step.thread)
        return (threads & ~others).nonzeroBitCount
    }
}

/// How many alternatives come from two places in the code.
struct RaceCounts {
    private var counts: [SIMD2<UInt>: Int] = [:]

    mutating func add(_ first: UInt, _ second: UInt) {
        counts[SIMD2(min(first, second), max(first, second)), default: 0] += 1
    }

    /// The pair with the most; of several, the first one in the code.
    var most: (first: UInt, second: UInt)? {
        counts.max { left, right in
            (left.value, right.key.x, right.key.y) < (right.value, left.key.x, left.key.y)
        }.map { ($0.key.x, $0.key.y) }
    }
}
