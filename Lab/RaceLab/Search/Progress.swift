import CRaceLab

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
