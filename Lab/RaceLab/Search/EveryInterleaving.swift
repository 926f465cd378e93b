import CRaceLab

/// Explores every interleaving, those with the fewest preemptions first.
///
/// At each step that was not prescribed, a run adds a branch for each other enabled thread, each
/// attempt that could come early, and each wait that could end unprompted. So every interleaving is
/// reached from exactly one other.
struct EveryInterleaving {
    /// An interleaving that is still to be explored: it begins with these choices.
    private struct Branch {
        var choices: UnsafeMutablePointer<UInt8>
        var length: UInt32
        var fingerprint: UInt64
    }

    /// First in, first out.
    private struct Queue {
        var branches: ContiguousArray<Branch> = []
        var first = 0
    }

    private let settings: SearchSettings
    /// One for each number of preemptions.
    private var queues: ContiguousArray<Queue> = []
    private var choices: ContiguousArray<UInt8> = []
    private var current: UnsafeMutablePointer<UInt8>?
    private(set) var reachedPreemptionBound = false
    /// Those of the branch chosen last.
    private var preemptions = 0

    init(_ settings: SearchSettings) {
        self.settings = settings
    }

    func deallocate() {
        current?.deallocate()
        for queue in queues {
            for branch in queue.branches[queue.first...] { branch.choices.deallocate() }
        }
    }

    mutating func learn(from record: UnsafePointer<rl_execution>) {
        let run = record.pointee
        guard let steps = run.steps else { return }
        choices.removeAll(keepingCapacity: true)
        for k in 0..<Int(run.step_count) { choices.append(rl_choice(steps + k)) }
        for k in Int(run.prescribed)..<max(Int(run.prescribed), Int(run.step_count)) {
            let step = steps[k]
            var others = step.enabled & ~(1 << UInt32(step.thread))
            if settings.faults & UInt32(RL_FAULT_SKIP_LAST_ALTERNATIVE) != 0, others != 0 {
                others &= ~(1 << UInt32(31 - others.leadingZeroBitCount))
            }
            let isFaulty = settings.faults & UInt32(RL_FAULT_NO_EARLY_ATTEMPTS) != 0
            let early = isFaulty ? 0 : step.could_be_early
            add(others, 0, at: k, of: run)
            add(early, RL_EARLY, at: k, of: run)
            let unprompted = step.could_time_out | step.could_be_spurious
            guard unprompted != 0 else { continue }
            for thread in 0..<UInt32(run.thread_count) {
                add(step.could_time_out & 1 << thread, RL_TIME_OUT, at: k, of: run)
                add(step.could_be_spurious & 1 << thread, RL_SPURIOUS, at: k, of: run)
            }
        }
    }

    /// What has been covered. The share is unknown: the search is not depth first.
    var progress: SearchProgress { SearchProgress(preemptions: preemptions) }

    /// Adds a branch for each of these threads.
    private mutating func add(
        _ threads: rl_thread_set, _ how: Int32, at k: Int, of run: borrowing rl_execution
    ) {
        var rest = threads
        while rest != 0 {
            add(UInt8(rest.trailingZeroBitCount) | UInt8(how), at: k, of: run)
            rest &= rest - 1
        }
    }

    /// Adds the branch that makes another choice at step `k`.
    private mutating func add(_ choice: UInt8, at k: Int, of run: borrowing rl_execution) {
        let step = run.steps[k]
        var preemptions = Int(step.preemptions)
        if k > 0 {
            let before = run.steps[k - 1].thread
            let isLeft = rl_chosen_thread(choice) != before
            if isLeft, step.enabled >> UInt32(before) & 1 != 0 { preemptions += 1 }
        }
        if let bound = settings.preemptionBound, preemptions > bound {
            reachedPreemptionBound = true
            return
        }
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: k + 1)
        choices.withUnsafeBufferPointer { copy.update(from: $0.baseAddress!, count: k) }
        copy[k] = choice
        while queues.count <= preemptions { queues.append(Queue()) }
        queues[preemptions].branches.append(
            Branch(choices: copy, length: UInt32(k + 1), fingerprint: run.fingerprints[k]))
    }

    /// Chooses the branch with the fewest preemptions; of those, the one found first.
    mutating func choose(_ plan: UnsafeMutablePointer<rl_plan>) -> Bool {
        for k in queues.indices where queues[k].first < queues[k].branches.count {
            preemptions = k
            let branch = queues[k].branches[queues[k].first]
            queues[k].first += 1
            if queues[k].first == queues[k].branches.count {
                queues[k].branches.removeAll(keepingCapacity: true)
                queues[k].first = 0
            }
            current?.deallocate()
            current = branch.choices
            plan.pointee.choices = UnsafePointer(branch.choices)
            plan.pointee.length = branch.length
            plan.pointee.fingerprint = branch.fingerprint
            return true
        }
        return false
    }
}
