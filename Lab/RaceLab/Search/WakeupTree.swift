import CRaceLab

extension rl_named_choice: @retroactive Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.of_thread_0 == right.of_thread_0
    }
}

/// The wakeup trees of all nodes, in one buffer, where the engine reads those of the next run.
///
/// A tree is identified by the index of its first wish; 0 is the empty tree.
struct WakeupTrees {
    private(set) var wishes: UnsafeMutablePointer<rl_wish>
    private var count = 1
    private var capacity = 64
    private var unused: UInt32 = 0
    /// From this number of wishes on, those that belong to no tree are collected.
    private var enough = 4096

    init() {
        wishes = .allocate(capacity: capacity)
        wishes[0] = rl_wish()
    }

    func deallocate() {
        wishes.deallocate()
    }

    private mutating func wish(for choice: rl_named_choice) -> UInt32 {
        let fresh = rl_wish(choice: choice, child: 0, next: 0)
        if unused != 0 {
            let index = unused
            unused = wishes[Int(index)].next
            wishes[Int(index)] = fresh
            return index
        }
        if count == capacity {
            wishes = grown(wishes, from: count, to: 2 * capacity)
            capacity *= 2
        }
        wishes[count] = fresh
        count += 1
        return UInt32(count - 1)
    }

    /// Appends a wish to the children of `parent`, or to the first wishes of a tree.
    private mutating func append(_ wish: UInt32, to tree: inout UInt32, below parent: UInt32) {
        var last = parent == 0 ? tree : wishes[Int(parent)].child
        guard last != 0 else {
            if parent == 0 { tree = wish } else { wishes[Int(parent)].child = wish }
            return
        }
        while wishes[Int(last)].next != 0 { last = wishes[Int(last)].next }
        wishes[Int(last)].next = wish
    }

    /// Adds a wish of one step, unless the tree has it already.
    mutating func add(_ choice: rl_named_choice, to tree: inout UInt32) {
        var wish = tree
        while wish != 0 {
            if wishes[Int(wish)].choice == choice { return }
            wish = wishes[Int(wish)].next
        }
        append(self.wish(for: choice), to: &tree, below: 0)
    }

    /// Moves the wish for a choice to the front, or adds it there.
    mutating func addFirst(_ choice: rl_named_choice, to tree: inout UInt32) {
        add(choice, to: &tree)
        var before: UInt32 = 0
        var wish = tree
        while wishes[Int(wish)].choice != choice { (before, wish) = (wish, wishes[Int(wish)].next) }
        guard before != 0 else { return }
        wishes[Int(before)].next = wishes[Int(wish)].next
        wishes[Int(wish)].next = tree
        tree = wish
    }

    /// How many wishes a tree has for its first step.
    func count(_ tree: UInt32) -> Int {
        var (count, wish) = (0, tree)
        while wish != 0 { (count, wish) = (count + 1, wishes[Int(wish)].next) }
        return count
    }

    /// Puts these choices of a thread first, and removes its other wishes for a plain step.
    mutating func prefer(
        _ choices: ContiguousArray<rl_named_choice>, of name: UInt64, in tree: inout UInt32
    ) {
        var kept: ContiguousArray<UInt32> = []
        var preferred = ContiguousArray(repeating: UInt32(0), count: choices.count)
        var wish = tree
        while wish != 0 {
            let choice = wishes[Int(wish)].choice
            if choice.name != name || rl_chosen_way(choice.of_thread_0) != 0 {
                kept.append(wish)
            } else if let index = choices.firstIndex(of: choice) {
                preferred[index] = wish
            }
            wish = wishes[Int(wish)].next
        }
        for index in choices.indices where preferred[index] == 0 {
            preferred[index] = self.wish(for: choices[index])
        }
        let all = preferred + kept
        for (wish, next) in zip(all, all.dropFirst() + [0]) { wishes[Int(wish)].next = next }
        tree = all.first ?? 0
    }

    /// Removes and returns the first wish of a tree.
    mutating func removeFirst(from tree: inout UInt32) -> rl_wish {
        let first = wishes[Int(tree)]
        tree = first.next
        return first
    }

    /// Inserts a sequence into the tree of a node, unless the tree leads to it already.
    mutating func insert(
        _ sequence: inout StepSequence, into tree: inout UInt32, at node: Int,
        of execution: borrowing Execution, _ counts: UnsafePointer<rl_known_counts>
    ) {
        var parent: UInt32 = 0
        var list = tree
        var moved: rl_thread_set = 0
        while list != 0, sequence.count > 0 {
            let (shared, at) = beginning(of: sequence, in: list, moved, node, execution, counts)
            if shared == 0 { break }
            let wish = wishes[Int(shared)]
            if wish.child == 0 || at + 1 == sequence.count { return }
            if at >= 0 { sequence.remove(at: at) }
            moved |= 1 << UInt32(execution.thread(named: wish.choice.name)!)
            parent = shared
            list = wish.child
        }
        for index in 0..<sequence.count {
            let fresh = wish(for: execution.named(sequence.choice(index, in: execution)))
            append(fresh, to: &tree, below: parent)
            parent = fresh
        }
    }

    /// Finds the wish in a list with which a sequence can begin: its step can be made first in the
    /// sequence, or before all of it. Returns 0 if there is none, and the index of the step.
    private func beginning(
        of sequence: borrowing StepSequence, in list: UInt32, _ moved: rl_thread_set, _ node: Int,
        _ execution: borrowing Execution, _ counts: UnsafePointer<rl_known_counts>
    ) -> (wish: UInt32, at: Int) {
        var wish = list
        while wish != 0 {
            defer { wish = wishes[Int(wish)].next }
            guard let choice = execution.choice(wishes[Int(wish)].choice) else { continue }
            let thread = Int(rl_chosen_thread(choice))
            let at = sequence.firstStep(of: thread, in: execution)
            if at >= 0, sequence.choice(at, in: execution) == choice { return (wish, at) }
            let isFree =
                at == StepSequence.notThere && rl_chosen_way(choice) == 0
                && moved >> UInt32(thread) & 1 == 0
            if isFree, !sequence.isInRuntime(execution), !sequence.misses(thread, execution),
                sequence.isIndependent(
                    of: execution.pending(max(node, execution.start(of: thread) + 1), thread),
                    execution, counts)
            {
                return (wish, at)
            }
        }
        return (0, StepSequence.notThere)
    }

    // MARK: Memory

    /// Collects the wishes that belong to none of the trees, if there are many.
    mutating func collect(except trees: () -> ContiguousArray<UInt32>) {
        guard unused == 0, count >= enough else { return }
        var isUsed = ContiguousArray(repeating: false, count: count)
        var rest = trees()
        isUsed[0] = true
        while let wish = rest.popLast() {
            if isUsed[Int(wish)] { continue }
            isUsed[Int(wish)] = true
            rest.append(wishes[Int(wish)].child)
            rest.append(wishes[Int(wish)].next)
        }
        var kept = 0
        for wish in 1..<count {
            if isUsed[wish] {
                kept += 1
            } else {
                wishes[wish] = rl_wish(choice: rl_named_choice(), child: 0, next: unused)
                unused = UInt32(wish)
            }
        }
        enough = max(4096, 2 * kept)
    }
}

/// Steps to make one after another: the needed ones of the execution, and a last one, which may be
/// pending there.
struct StepSequence {
    /// What ``firstStep(of:in:)`` returns if there is none, or if another step in the sequence
    /// happens before it.
    static let (notThere, blocked) = (-1, -2)

    let needed: UnsafeMutablePointer<UInt32>
    let last: SecondStep
    let lastClock: Clock
    private(set) var count: Int

    init(_ last: SecondStep, _ clock: Clock, _ room: UnsafeMutablePointer<UInt32>) {
        needed = room
        self.last = last
        lastClock = clock
        count = 1
        needed[0] = UInt32(last.at)
    }

    /// Adds a step of the execution, before the last one.
    mutating func add(_ step: Int) {
        needed[count - 1] = UInt32(step)
        needed[count] = UInt32(last.at)
        count += 1
    }

    mutating func remove(at index: Int) {
        count -= 1
        for k in index..<count { needed[k] = needed[k + 1] }
    }

    func thread(_ index: Int, in execution: borrowing Execution) -> Int {
        index + 1 == count ? last.thread : Int(execution.steps[Int(needed[index])].thread)
    }

    func choice(_ index: Int, in execution: borrowing Execution) -> UInt32 {
        index + 1 == count ? last.choice : execution.steps[Int(needed[index])].wish
    }

    /// The index of a thread's first step, if no other step in the sequence happens before it.
    func firstStep(of thread: Int, in execution: borrowing Execution) -> Int {
        var index = 0
        while index < count {
            if self.thread(index, in: execution) == thread {
                return isFirst(index, in: execution) ? index : Self.blocked
            }
            index += 1
        }
        return Self.notThere
    }

    private func isFirst(_ index: Int, in execution: borrowing Execution) -> Bool {
        let clock = index + 1 == count ? lastClock : execution.clock(of: Int(needed[index]))
        for k in 0..<index {
            let step = execution.steps[Int(needed[k])]
            if step.number <= clock[Int(step.thread)] { return false }
        }
        return true
    }

    /// Whether a step in the sequence has effects in the concurrency runtime. Then it may depend on
    /// any other step that has unannounced effects there.
    func isInRuntime(_ execution: borrowing Execution) -> Bool {
        for k in 0..<count - 1 {
            let step = execution.steps[Int(needed[k])]
            if step.isInRuntime || rl_is_about_tasks(step.kind) { return true }
        }
        return last.isInRuntime || rl_is_about_tasks(last.effects[0].kind)
    }

    /// Whether an attempt in the sequence comes right before a release by this thread, so that it
    /// depends on the thread's next step.
    func misses(_ thread: Int, _ execution: borrowing Execution) -> Bool {
        if last.holder == thread { return true }
        for k in 0..<count - 1 where execution.steps[Int(needed[k])].isEarly {
            if Int(execution.record.pointee.steps[Int(needed[k])].before) == thread { return true }
        }
        return false
    }

    /// Whether a pending step is independent of the whole sequence.
    func isIndependent(
        of pending: rl_pending, _ execution: borrowing Execution,
        _ counts: UnsafePointer<rl_known_counts>
    ) -> Bool {
        var own = rl_effect(pending)
        let counting = pending.waits && rl_counts_at(counts, pending.pc)
        for k in 0..<count {
            let step = execution.steps[Int(needed[k])]
            let isLast = k + 1 == count
            let first = isLast ? last.effects : execution.effects + Int(step.firstEffect)
            let end =
                isLast ? first + last.effectCount : execution.effects + Int(step.endEffect)
            if let conflict = rl_first_conflict(first, end, &own),
                !canFollow(conflict.pointee, own.kind)
            {
                return false
            }
            if counting, rl_touches_count(counts, pending.pc, first, end) { return false }
        }
        return true
    }

    /// Whether a read that chooses its value shows the same if a store comes before it.
    private func canFollow(_ read: rl_effect, _ kind: UInt8) -> Bool {
        rl_chooses_value(read.kind) && kind == RL_ATOMIC_WRITE.rawValue
    }
}
