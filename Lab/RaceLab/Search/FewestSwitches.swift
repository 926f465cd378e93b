import CRaceLab

/// Computes, without running anything, the interleaving with the fewest context switches that is
/// equivalent to a run. Among all orders that preserve the order of dependent steps, it finds one
/// in which the fewest steps read old values; of those, one with the fewest preemptions; and of
/// those, one with the fewest context switches.
///
/// A thread that has begun continues as far as the order of dependent steps allows, because leaving
/// it earlier never saves a switch. So the search only chooses which thread continues next. Where
/// stores are kept, a value becomes old when a thread goes on, so there it chooses after each step.
/// It is Dijkstra's algorithm; a state is the number of steps that each thread has made. Finally,
/// steps are postponed until their thread continues, where that makes no difference.
struct FewestSwitches {
    struct Interleaving {
        let choices: [UInt32]
        let size: RunSize
    }

    /// The path to a state. `done` holds the state itself: the number of steps made by each thread.
    private struct State {
        /// The thread that made the last step; -1: none.
        var last: Int
        /// Old values, preemptions, and all context switches; see `preemption` and `oldValue`.
        var cost: UInt64
        /// The previous state; -1: none.
        var from: Int
    }

    /// Consecutive steps of one thread.
    private struct Block {
        var thread: Int
        /// Their numbers among the steps of the thread, from 0.
        var steps: Range<Int>
        /// Whether the thread is preempted after these steps.
        var isLeft: Bool
    }

    /// Enough for hundreds of steps. Beyond that the search gives up, and the interleaving is shown
    /// as it was run.
    private static let mostStates = 4096
    private static let preemption: UInt64 = 1 << 32
    private static let oldValue: UInt64 = 1 << 48

    private var execution = Execution()
    /// The steps of each thread.
    private var steps: [[Int]] = []
    private var states = ContiguousArray<State>()
    /// For each step that reads one of several values: the step that stores the next one, if any.
    private var nextStores: [Int: Int] = [:]
    private var keepsStores = false
    /// A row for each state, and one more for the state that is being computed.
    private let done: Clock
    /// The states to continue from: the one with the lowest cost last; of equal ones, the one found
    /// first.
    private var open = ContiguousArray<Int>()
    /// The best path to each state.
    private var known: [[UInt32]: Int] = [:]
    private var isFull = false

    init() {
        done = .allocate(capacity: (Self.mostStates + 1) * Int(RL_MAX_THREADS))
    }

    func deallocate() {
        done.deallocate()
    }

    /// Returns `nil` if there are too many states.
    mutating func find(_ execution: Execution) -> Interleaving? {
        self.execution = execution
        steps = (0..<execution.threadCount).map { thread in
            (0..<execution.count).filter { execution.steps[$0].thread == thread }
        }
        findNextStores()
        states.removeAll(keepingCapacity: true)
        known.removeAll(keepingCapacity: true)
        open.removeAll(keepingCapacity: true)
        isFull = false
        let start = row(0)
        start.update(repeating: 0, count: execution.threadCount)
        reach(last: -1, cost: 0, from: -1)
        while !isFull, let index = open.popLast() {
            let state = states[index]
            if isEnd(index) {
                let size = RunSize(
                    old: UInt32(state.cost / Self.oldValue),
                    forced: UInt32(Self.preemptions(state.cost)),
                    switches: UInt32(state.cost % Self.preemption), steps: UInt32(execution.count))
                return Interleaving(choices: choices(to: index), size: size)
            }
            if known[key(index, last: state.last)] == index { reachAll(from: index) }
        }
        return nil
    }

    private static func preemptions(_ cost: UInt64) -> UInt64 {
        cost % oldValue / preemption
    }

    private mutating func findNextStores() {
        nextStores = [:]
        keepsStores = execution.record.pointee.slept != nil
        guard keepsStores else { return }
        var latest: [UInt: [(number: UInt32, step: Int)]] = [:]
        for k in 0..<execution.count {
            for e in Int(execution.steps[k].firstEffect)..<Int(execution.steps[k].endEffect) {
                let effect = execution.effects[e]
                guard effect.store != 0, !rl_chooses_value(effect.kind) else { continue }
                latest[effect.address, default: []].append((effect.store, k))
            }
        }
        for k in 0..<execution.count {
            let read = rl_chosen_store(execution.steps[k].choice)
            let address = execution.pending(k, Int(execution.steps[k].thread)).address
            guard read != 0 else { continue }
            nextStores[k] = latest[address]?.first { $0.number > read && $0.step != k }?.step
        }
    }

    private func isOld(_ step: Int, after done: Clock) -> Bool {
        nextStores[step].map { execution.happens($0, before: done) } ?? false
    }

    private func row(_ index: Int) -> Clock { done + index * Int(RL_MAX_THREADS) }

    private func isEnd(_ index: Int) -> Bool {
        (0..<execution.threadCount).allSatisfy { nextStep($0, after: row(index)) == nil }
    }

    // MARK: The steps that can be next

    private func nextStep(_ thread: Int, after done: Clock) -> Int? {
        let at = Int(done[thread])
        return at < steps[thread].count ? steps[thread][at] : nil
    }

    /// Whether a step would separate a release from the early attempt that has to come right before
    /// it.
    private func comesTooSoon(_ step: Int, after done: Clock) -> Bool {
        let thread = execution.steps[step].thread
        var k = step
        while k > 0, execution.steps[k - 1].thread != thread {
            k -= 1
            guard rl_chosen_way(execution.steps[k].choice) == UInt8(RL_EARLY) else { continue }
            let isBeforeIt = execution.record.pointee.steps[k].before == thread
            if isBeforeIt, !execution.happens(k, before: done) { return true }
        }
        return false
    }

    /// The step with the release that an early attempt comes right before; `nil` if the step is not
    /// one.
    private func missed(_ step: Int) -> Int? {
        guard execution.steps[step].isEarly else { return nil }
        let holder = execution.record.pointee.steps[step].before
        return (0..<step).last { Int8(execution.steps[$0].thread) == holder }
    }

    private func canBeNext(_ thread: Int, after done: Clock) -> Bool {
        guard let step = nextStep(thread, after: done) else { return false }
        if let missed = missed(step), !execution.happens(missed, before: done) { return false }
        let needs = execution.clocks + step * Int(RL_MAX_THREADS)
        for other in 0..<execution.threadCount where other != thread && needs[other] > done[other] {
            return false
        }
        return !comesTooSoon(step, after: done)
    }

    // MARK: States

    /// The state in a row.
    private func key(_ index: Int, last: Int) -> [UInt32] {
        UnsafeBufferPointer(start: row(index), count: execution.threadCount) + [UInt32(last + 1)]
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        let (a, b) = (states[left].cost, states[right].cost)
        return a != b ? a < b : left < right
    }

    private mutating func push(_ index: Int) {
        var (from, to) = (0, open.count)
        while from < to {
            let middle = (from + to) / 2
            if isBefore(index, open[middle]) { from = middle + 1 } else { to = middle }
        }
        open.insert(index, at: from)
    }

    /// Adds a path to the state in the row after the last state, unless a known path costs no more.
    private mutating func reach(last: Int, cost: UInt64, from: Int) {
        let key = key(states.count, last: last)
        if let known = known[key], states[known].cost <= cost { return }
        guard states.count < Self.mostStates else {
            isFull = true
            return
        }
        known[key] = states.count
        states.append(State(last: last, cost: cost, from: from))
        push(states.count - 1)
    }

    private mutating func reachAll(from index: Int) {
        let state = states[index]
        let done = row(index)
        var cost = state.cost
        if state.last >= 0 {
            let next = nextStep(state.last, after: done)
            let isForced = execution.couldGoOn(state.last, after: done, next: next)
            cost += 1 + (isForced ? Self.preemption : 0)
        }
        for thread in 0..<execution.threadCount
        where (keepsStores || thread != state.last) && canBeNext(thread, after: done) {
            let fresh = row(states.count)
            fresh.update(from: done, count: execution.threadCount)
            if keepsStores {
                let readsOld = isOld(nextStep(thread, after: done)!, after: done)
                fresh[thread] += 1
                reach(
                    last: thread,
                    cost: (thread == state.last ? state.cost : cost)
                        + (readsOld ? Self.oldValue : 0),
                    from: index)
            } else {
                while canBeNext(thread, after: fresh) { fresh[thread] += 1 }
                reach(last: thread, cost: cost, from: index)
            }
        }
    }

    // MARK: The path

    private func choices(to end: Int) -> [UInt32] {
        var blocks = blocks(to: end)
        postpone(&blocks)
        let order = blocks.flatMap { steps[$0.thread][$0.steps] }
        let numbers = numbers(in: order)
        let choices = order.map { step in
            let (choice, thread) = (execution.steps[step].choice, execution.steps[step].thread)
            return choice & ~UInt32(thread) | numbers[Int(thread)]
        }
        guard keepsStores else { return choices }
        // A schedule says what a step reads only where that is an old value.
        var made: Set<Int> = []
        return zip(order, choices).map { step, choice in
            made.insert(step)
            let isOld = nextStores[step].map(made.contains) ?? false
            return choice & (isOld ? .max : (1 << RL_STORE_SHIFT) - 1)
        }
    }

    /// The numbers of the threads if the steps are made in this order: that of their starts.
    private func numbers(in order: [Int]) -> [UInt32] {
        var numbers = Array(0..<UInt32(execution.threadCount))
        var next = UInt32(numbers.indices.count { execution.start(of: $0) < 0 })
        for step in order {
            for thread in numbers.indices where execution.start(of: thread) == step {
                numbers[thread] = next
                next += 1
            }
        }
        return numbers
    }

    private func blocks(to end: Int) -> [Block] {
        var blocks: [Block] = []
        var at = end
        var cost = states[end].cost
        while states[at].from >= 0 {
            let state = states[at]
            let (from, to) = (Int(row(state.from)[state.last]), Int(row(at)[state.last]))
            let isLeft = Self.preemptions(cost) > Self.preemptions(state.cost)
            let made = from..<to
            if let next = blocks.last, next.thread == state.last {
                blocks[blocks.count - 1].steps = made.lowerBound..<next.steps.upperBound
            } else {
                blocks.append(Block(thread: state.last, steps: made, isLeft: isLeft))
            }
            (cost, at) = (state.cost, state.from)
        }
        return blocks.reversed()
    }

    /// Whether a step has to come before a step in these blocks.
    private func isNeeded(_ step: Int, in blocks: ArraySlice<Block>) -> Bool {
        // Another value may be old later.
        if keepsStores, rl_chosen_store(execution.steps[step].choice) != 0 { return true }
        return blocks.contains { block in
            steps[block.thread][block.steps].contains {
                missed($0) == step || execution.happens(step, before: execution.clock(of: $0))
            }
        }
    }

    /// Moves steps that a thread makes before it is preempted to its next block, where that makes
    /// no difference. So the last step before a preemption is the one after which the preemption
    /// matters.
    private func postpone(_ blocks: inout [Block]) {
        for b in blocks.indices where blocks[b].isLeft {
            let thread = blocks[b].thread
            let later = b + 1..<blocks.count
            guard let next = later.first(where: { blocks[$0].thread == thread }) else { continue }
            while blocks[b].steps.count > 1,
                !isNeeded(
                    steps[thread][blocks[b].steps.upperBound - 1], in: blocks[b + 1..<next])
            {
                let moved = blocks[b].steps.upperBound - 1
                blocks[b].steps = blocks[b].steps.lowerBound..<moved
                blocks[next].steps = moved..<blocks[next].steps.upperBound
            }
        }
    }
}

/// The size of an interleaving: how hard it is for a reader to follow.
struct RunSize: Comparable {
    /// How many steps read old values.
    let old: UInt32
    /// The number of preemptions: switches away from a thread that could have continued.
    let forced: UInt32
    let switches: UInt32
    let steps: UInt32

    static let unlimited = RunSize(old: .max, forced: .max, switches: .max, steps: .max)

    static func < (left: RunSize, right: RunSize) -> Bool {
        (left.old, left.forced, left.switches, left.steps)
            < (right.old, right.forced, right.switches, right.steps)
    }
}
