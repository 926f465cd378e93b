import CRaceLab

/// Explores one interleaving of each equivalence class: two interleavings are equivalent if they
/// differ only in the order of independent steps. This is optimal dynamic partial-order reduction
/// (Abdulla, Aronis, Jonsson and Sagonas, "Source Sets", Journal of the ACM 2017).
///
/// The search is depth first. After each run it looks for races: pairs of dependent steps that
/// nothing else orders. For each race it inserts a sequence of wishes at the node before the first
/// of the two steps: the steps that lead to the second one without the first. The wishes of a node
/// form its wakeup tree. Sleep sets tell which wishes would only repeat what has been explored.
///
/// Sleep sets and wakeup trees have to agree on which steps are independent. They do not where the
/// lab knows less about a wish than about explored steps. So a race is skipped because of a
/// sleeping thread only if the step of that thread is one of the steps to explore (`isAsleep`).
///
/// An attempt to take a lock either succeeds or fails, and after a release that belongs to the last
/// step of another thread, it can do both: it can also come right before the release. An attempt
/// that fails depends on the release, but not on the rest of the step with the release. So the two
/// are separate choices with separate sleep sets (`SleepSet.early`), and an attempt that succeeds
/// races with the release before it (`explore(attempt:before:)`).
struct Reduction {
    let settings: SearchSettings
    let counts: ReferenceCounts
    var execution = Execution()
    var trees = WakeupTrees()
    /// What is known about the state before each step of the current interleaving.
    var nodes = UnsafeMutablePointer<Node>.allocate(capacity: 0)
    /// For each node, the kinds of the steps of the threads that sleep or have been explored, as
    /// executed.
    private var kinds = UnsafeMutablePointer<UInt8>.allocate(capacity: 0)
    /// For each node and thread, how many stores it need not read; see `rl_plan`.
    private var slept = UnsafeMutablePointer<UInt32>.allocate(capacity: 0)
    private var choices = UnsafeMutablePointer<UInt32>.allocate(capacity: 0)
    private var capacity = 0
    /// The redundant steps of the current run begin here.
    var limit = 0
    /// The first node at which no other run begins.
    private var end = 0
    private var hasBegun = false
    /// Whether a run has shown that the liberties of the scenario matter.
    private var takesLiberties = false
    var races = RaceCounts()
    /// The node at which the next run leaves the last one.
    private(set) var chosen = 0
    // Room for the current race: the steps it needs, and its second step's clocks and effect.
    var room = UnsafeMutablePointer<UInt32>.allocate(capacity: 0)
    let known = Clock.allocate(capacity: Int(RL_MAX_THREADS))
    let all = Clock.allocate(capacity: Int(RL_MAX_THREADS))
    /// Like `known`, with the steps whose order matters because the second step, which has not been
    /// made, may remove a reference.
    let counted = Clock.allocate(capacity: Int(RL_MAX_THREADS))
    let own = UnsafeMutablePointer<rl_effect>.allocate(capacity: 1)

    init(_ settings: SearchSettings, _ counts: ReferenceCounts) {
        self.settings = settings
        self.counts = counts
    }

    func deallocate() {
        execution.deallocate()
        trees.deallocate()
        nodes.deallocate()
        kinds.deallocate()
        slept.deallocate()
        choices.deallocate()
        room.deallocate()
        known.deallocate()
        all.deallocate()
        counted.deallocate()
        own.deallocate()
    }

    /// Whether atomic operations may read old values.
    var keepsStores: Bool { execution.record.pointee.slept != nil }

    func slept(_ thread: Int, at node: Int) -> UInt32 {
        slept[node * Int(RL_MAX_THREADS) + thread]
    }

    /// Earlier nodes belong to the given schedule.
    var firstNode: Int { settings.given }

    /// Forgets the interleavings explored so far.
    mutating func startOver() {
        for k in 0..<capacity { nodes[k].wishes = 0 }
        hasBegun = false
    }

    // MARK: After a run: what else to explore

    /// Reads a run, and learns nothing from it.
    mutating func read(_ record: UnsafePointer<rl_execution>) {
        execution.read(record, counts.effects(in: record))
    }

    /// Finds out which steps of a run happen before which, for ``FewestSwitches``, where no run is
    /// learned from.
    mutating func orderSteps() {
        // No race makes a wish.
        limit = 0
        for k in 0..<execution.count { lookAtStep(k) }
    }

    mutating func learn(from record: UnsafePointer<rl_execution>) {
        read(record)
        let count = execution.count
        if settings.liberties != 0, record.pointee.liberties_matter { takesLiberties = true }
        limit = min(count, Int(record.pointee.limit))
        end = limit
        guard count > 0 else { return }
        let prescribed = Int(record.pointee.prescribed)
        readNodes(from: hasBegun ? prescribed : 0, prescribed)
        let branch = max(0, prescribed - 1)
        let first = hasBegun ? branch : 0
        hasBegun = true
        for k in first..<max(first, limit) { lookAtStep(k) }
        for k in first..<max(first, limit) { noteKind(k) }
        if record.pointee.status == RL_CRASHES {
            letOthersGoBeforeCrash()
        } else {
            // Also in a redundant run: what a thread waits for there may be taken in another order.
            let asleep = limit < count ? nodes[limit].sleep.threads : 0
            lookForRacesOfWaiting(at: limit, except: asleep)
        }
        for k in max(branch, firstNode)..<max(branch, firstNode, limit) {
            if nodes[k].isBarrier { wishForAll(at: k) }
            if k >= prescribed { wishForUnprompted(at: k) }
            if execution.steps[k].isEarly { wishForRelease(at: k) }
        }
        if takesLiberties, limit < count, limit >= prescribed {
            // Every enabled thread sleeps, but a wait may end there.
            wishForUnprompted(at: limit)
            end += nodes[limit].wishes == 0 ? 0 : 1
        }
        if keepsStores { wishForOtherValues(from: max(first, firstNode)) }
        // What has been explored completely had no use for a liberty, so nothing is missing there.
        guard takesLiberties else { return }
        for k in firstNode..<max(firstNode, limit) { wishForAll(at: k) }
    }

    /// The nodes of the prescribed steps are those of an earlier run.
    private mutating func readNodes(from first: Int, _ prescribed: Int) {
        let count = execution.count
        if count >= capacity {
            let wanted = max(256, 2 * count)
            nodes = grown(nodes, from: capacity, to: wanted)
            for k in capacity..<wanted { nodes[k] = Node() }
            let row = Int(RL_MAX_THREADS)
            kinds = grown(kinds, from: capacity * row, to: wanted * row)
            slept = grown(slept, from: capacity * row, to: wanted * row)
            choices = grown(choices, from: 0, to: wanted)
            room = grown(room, from: 0, to: wanted)
            capacity = wanted
        }
        let record = execution.record.pointee
        for k in 0...count {
            let recorded = record.nodes[k]
            if k >= first {
                nodes[k] = Node(
                    sleep: SleepSet(
                        threads: recorded.sleeping, early: recorded.asleep_early,
                        inRuntime: recorded.in_runtime))
                if k >= prescribed { nodes[k].wishes = recorded.wishes }
                let row = k * Int(RL_MAX_THREADS)
                if recorded.sleeping != 0 {
                    (kinds + row).update(from: record.kinds + row, count: Int(RL_MAX_THREADS))
                }
                if let recorded = record.slept {
                    (slept + row).update(from: recorded + row, count: Int(RL_MAX_THREADS))
                }
            }
            nodes[k].could = recorded.could
            nodes[k].isBarrier = recorded.is_barrier
        }
    }

    /// Records the kind as which the executed step at a node counts while its thread sleeps.
    private func noteKind(_ k: Int) {
        let step = execution.steps[k]
        if step.isEarly { return }
        let thread: rl_thread_set = 1 << UInt32(step.thread)
        let first = Int(step.firstEffect)
        let effect = first < execution.effectCount ? execution.effects[first].kind : step.kind
        // Whether the order shows, the step that wakes its thread decides.
        let kind = rl_without_order(effect)
        let place = k * Int(RL_MAX_THREADS) + Int(step.thread)
        // An exchange that fails on one value and succeeds with another one counts as a write.
        let hasWritten =
            nodes[k].explored.enabled & thread != 0 && kinds[place] == RL_ATOMIC_WRITE.rawValue
        if !hasWritten { kinds[place] = kind }
        nodes[k].sleep.inRuntime &= ~thread
        if step.isInRuntime { nodes[k].sleep.inRuntime |= thread }
    }

    /// Lets every other thread go first: what it would do instead of the crash is unknown.
    private mutating func letOthersGoBeforeCrash() {
        let last = execution.count - 1
        wishForAll(at: last)
        nodes[last].awake |= 1 << UInt32(execution.steps[last].thread)
    }

    private mutating func wishForAll(at k: Int) {
        let others = nodes[k].could.enabled & ~(1 << UInt32(execution.steps[k].thread))
        for thread in 0..<UInt32(execution.threadCount) where others >> thread & 1 != 0 {
            if isPossible(thread, at: k) {
                trees.add(execution.named(thread), to: &nodes[k].wishes)
            }
        }
    }

    /// An attempt that has come early could also come after the release. The search tries that here
    /// unless it has continued from here with the release.
    private mutating func wishForRelease(at k: Int) {
        let thread = UInt32(execution.steps[k].thread)
        if nodes[k].explored.enabled == 0, isPossible(thread, at: k) {
            trees.add(execution.named(thread), to: &nodes[k].wishes)
        }
    }

    /// Adds wishes for waits that end without what they wait for.
    private mutating func wishForUnprompted(at k: Int) {
        if settings.faults & UInt32(RL_FAULT_NO_EARLY_ATTEMPTS) != 0 { return }
        let could = nodes[k].could
        guard could.time_out | could.spurious != 0 else { return }
        for thread in 0..<UInt32(execution.threadCount) {
            for (threads, way) in [(could.time_out, RL_TIME_OUT), (could.spurious, RL_SPURIOUS)]
            where threads >> thread & 1 != 0 {
                trees.add(execution.named(thread | UInt32(way)), to: &nodes[k].wishes)
            }
        }
    }

    /// Adds wishes for the other values that the steps could read. A thread reads all of them
    /// before another thread goes first, so that its step has been explored when it sleeps.
    private mutating func wishForOtherValues(from first: Int) {
        let record = execution.record.pointee
        var next = 0
        for k in first..<max(first, limit) where record.steps[k].reads != 0 {
            while next < record.value_count, record.values[next].step < k { next += 1 }
            var choices: ContiguousArray<rl_named_choice> = []
            while next < record.value_count, record.values[next].step == k {
                choices.append(execution.named(record.values[next].choice))
                next += 1
            }
            let thread = Int(execution.steps[k].thread)
            if nodes[k].choosers >> UInt32(thread) & 1 != 0 { continue }
            nodes[k].choosers |= 1 << UInt32(thread)
            trees.prefer(choices, of: execution.name(of: thread), in: &nodes[k].wishes)
        }
    }

    private func isPossible(_ choice: UInt32, at k: Int) -> Bool {
        // What the thread of an explored step could read instead has not been explored.
        let explored = rl_chosen_store(choice) == 0 ? nodes[k].explored.enabled : 0
        let sleep = nodes[k].sleep
        // After a wait that ended unprompted no thread sleeps, so nothing is left there.
        var could = nodes[k].could
        could.time_out &= ~nodes[k].explored.time_out
        could.spurious &= ~nodes[k].explored.spurious
        return rl_is_possible(
            choice, &could, sleep.threads | explored, sleep.early | nodes[k].explored.early)
    }

    // MARK: The next run

    /// Returns false if everything has been explored.
    mutating func choose(_ plan: UnsafeMutablePointer<rl_plan>) -> Bool {
        let count = execution.count
        for k in end...max(end, count) where k < capacity { nodes[k].wishes = 0 }
        var k = end
        while k > firstNode {
            k -= 1
            let step = execution.steps[k]
            rl_add_choice(&nodes[k].explored, step.choice)
            if step.isFailing { nodes[k].explored.early |= 1 << UInt32(step.thread) }
            while nodes[k].wishes != 0 {
                let wish = trees.removeFirst(from: &nodes[k].wishes)
                guard let choice = execution.choice(wish.choice), isPossible(choice, at: k)
                else { continue }
                prescribe(choice, then: wish.child, at: k, plan)
                return true
            }
        }
        return false
    }

    private mutating func prescribe(
        _ choice: UInt32, then first: UInt32, at k: Int, _ plan: UnsafeMutablePointer<rl_plan>
    ) {
        chosen = k
        for earlier in 0..<k { choices[earlier] = execution.steps[earlier].choice }
        choices[k] = choice
        let own: rl_thread_set = 1 << UInt32(rl_chosen_thread(choice))
        let way = rl_chosen_way(choice)
        if way == UInt8(RL_EARLY), nodes[k].could.early & own == 0 {
            // The attempt fails without coming early.
            choices[k] = UInt32(rl_chosen_thread(choice))
        }
        let sleep = nodes[k].sleep
        let isPlain = way == 0 || way == UInt8(RL_EARLY)
        plan.pointee.choices = UnsafePointer(choices)
        plan.pointee.length = UInt32(k + 1)
        plan.pointee.fingerprint = execution.record.pointee.fingerprints[k]
        plan.pointee.sleeping =
            isPlain ? (sleep.threads | nodes[k].explored.enabled) & ~nodes[k].awake & ~own : 0
        plan.pointee.asleep_early =
            isPlain ? (sleep.early | nodes[k].explored.early) & ~nodes[k].awake & ~own : 0
        plan.pointee.in_runtime = sleep.inRuntime
        plan.pointee.kinds = UnsafePointer(kinds + k * Int(RL_MAX_THREADS))
        if keepsStores { plan.pointee.slept = UnsafePointer(slept + k * Int(RL_MAX_THREADS)) }
        trees.collect {
            var used: ContiguousArray<UInt32> = [first]
            for earlier in 0...k { used.append(nodes[earlier].wishes) }
            return used
        }
        plan.pointee.wishes = UnsafePointer(trees.wishes)
        plan.pointee.first_wish = first
    }
}

/// What is known about the state before a step of the current interleaving.
struct Node {
    /// The threads that can make the step, for each kind of choice.
    var could = rl_alternatives()
    /// The sleep set with which the search reached this node.
    var sleep = SleepSet()
    /// What has been explored from here. An attempt that failed counts as an early one, too.
    var explored = rl_alternatives()
    /// The threads that must not sleep in what is explored next, although they are among these.
    var awake: rl_thread_set = 0
    /// The threads that could read one of several values: the tree begins with their other choices.
    var choosers: rl_thread_set = 0
    /// A wakeup tree.
    var wishes: UInt32 = 0
    /// Whether the step is possible only because no other is.
    var isBarrier = false
}

/// The threads whose next step leads only to what has been explored.
struct SleepSet {
    var threads: rl_thread_set = 0
    /// The threads whose next step, if it is an attempt that fails, leads only there.
    var early: rl_thread_set = 0
    /// Those of `threads`, and of the explored threads, whose steps have unannounced effects in the
    /// concurrency runtime.
    var inRuntime: rl_thread_set = 0
}
