import CRaceLab

/// Explores every interleaving, those with the fewest preemptions first.
///
/// At each step that was not prescribed, a run adds a branch for each other enabled thread, each
/// attempt that could come early, and each wait that could end unprompted. So every interleaving is
/// reached from exactly one other.
struct EveryInterleaving {
    /// An interleaving that is still to be explored: it begins with these choices.
    private struct Branch {
        var choices: UnsafeMutablePointer<UInt32>
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
    private var choices: ContiguousArray<UInt32> = []
    private var current: UnsafeMutablePointer<UInt32>?
    private(set) var reachedPreemptionBound = false
    /// The number of preemptions of the branch chosen last.
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
        let end = min(Int(run.step_count), Int(run.limit))
        for k in 0..<Int(run.step_count) { choices.append(rl_exact_choice(steps + k)) }
        addOtherValues(in: run, before: end)
        for k in Int(run.prescribed)..<max(Int(run.prescribed), end) {
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

    /// Adds a branch for each old value that a step could read and that would not be the newest one
    /// in another interleaving, in which the step comes earlier. If the last prescribed choice
    /// names a store, the branches for its step exist already.
    private mutating func addOtherValues(in run: borrowing rl_execution, before end: Int) {
        if run.value_count == 0 { return }
        var first = Int(run.prescribed)
        if let current, rl_chosen_store(current[first - 1]) == 0 { first -= 1 }
        first = max(first, settings.given)
        var past = Past(threadCount: Int(run.thread_count))
        var next = 0
        for k in 0..<end {
            let step = run.steps[k]
            while next < Int(run.value_count), Int(run.values[next].step) == k {
                let choice = run.values[next].choice
                next += 1
                if k >= first, !past.couldPrecede(rl_chosen_store(choice) + 1, step) {
                    add(choice, at: k, of: run)
                }
            }
            past.add(step)
        }
    }

    /// Adds a branch for each of these threads.
    private mutating func add(
        _ threads: rl_thread_set, _ how: Int32, at k: Int, of run: borrowing rl_execution
    ) {
        var rest = threads
        while rest != 0 {
            add(UInt32(rest.trailingZeroBitCount) | UInt32(how), at: k, of: run)
            rest &= rest - 1
        }
    }

    /// Adds the branch that makes another choice at step `k`.
    private mutating func add(_ choice: UInt32, at k: Int, of run: borrowing rl_execution) {
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
        let copy = UnsafeMutablePointer<UInt32>.allocate(capacity: k + 1)
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

/// The steps of a run so far, as far as it depends on them which old values are worth reading.
private struct Past {
    private struct Store: Hashable {
        let address: UInt
        let number: UInt32
    }

    private var steps = 0
    /// For each thread, how many steps there were when it had made its last one.
    private var last: [Int]
    /// For each store, how many steps came before it, and which threads could have run instead.
    private var stores: [Store: (steps: Int, enabled: rl_thread_set)] = [:]

    init(threadCount: Int) {
        last = Array(repeating: 0, count: threadCount)
    }

    /// Whether a load was the next step of its thread already when this store was made. Then it can
    /// come right before the store, and reads the same value there. A load that became the next one
    /// later may be able to come earlier, too: then the value is read once more.
    func couldPrecede(_ store: UInt32, _ load: rl_step) -> Bool {
        let thread = Int(load.thread)
        let store = stores[Store(address: UInt(load.address), number: store)]
        return store.map { last[thread] <= $0.steps && $0.enabled >> thread & 1 != 0 } ?? false
    }

    mutating func add(_ step: rl_step) {
        if step.stores > 0 {
            let store = Store(address: UInt(step.address), number: step.stores)
            stores[store] = (steps, step.enabled)
        }
        steps += 1
        last[Int(step.thread)] = steps
    }
}
