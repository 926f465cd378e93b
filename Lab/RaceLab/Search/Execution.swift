import CRaceLab

/// A moment of a run: for each thread, how many of its steps happen before it.
typealias Clock = UnsafeMutablePointer<UInt32>

/// A step of a run, as the search sees it.
struct Step {
    var thread: UInt8
    /// The choice that led to it.
    var choice: UInt32
    /// What it announced.
    var kind: UInt8
    /// Whether it has unannounced effects in the concurrency runtime.
    var isInRuntime: Bool
    /// Whether it is possible only because no other step is.
    var isBarrier: Bool
    /// Whether it is an attempt to take a lock, which fails …
    var isFailing: Bool
    /// … because it comes right before the release.
    var isEarly: Bool { isFailing && rl_chosen_way(choice) == UInt8(RL_EARLY) }
    /// The choice in another interleaving. Whether an attempt that fails is early there depends on
    /// where the steps of the holder are.
    var wish: UInt32 { isFailing ? UInt32(thread) | UInt32(RL_EARLY) : choice }
    /// Its number among the steps of its thread, from 1.
    var number: UInt32
    var firstEffect: UInt32
    var endEffect: UInt32
    /// The first step that can be permuted with it: the one after the last barrier.
    var firstMovable: UInt32
}

extension rl_effect {
    /// The effect that a step announces.
    init(_ pending: rl_pending) {
        self.init(
            address: pending.address, type: 0, kind: pending.kind, free_for: 0, store: 0,
            value: 0)
    }
}

/// An effect that is known only after the run.
struct LateEffect {
    var step: Int
    var effect: rl_effect
}

/// A run: an array of steps with their effects, and the order in which they happen.
///
/// The buffers keep their memory from one run to the next. The clocks of the prescribed steps,
/// which both runs have in common, stay valid.
struct Execution {
    /// What the engine has recorded.
    private(set) var record: UnsafePointer<rl_execution>!
    private(set) var count = 0
    private(set) var threadCount = 0
    /// The steps, and one entry more for the end.
    private(set) var steps: UnsafeMutablePointer<Step>
    private(set) var effects: UnsafePointer<rl_effect>
    private(set) var effectCount = 0
    /// Of each step: the steps that happen before it, and itself.
    private(set) var clocks: Clock
    private var capacity = 0
    private var completed: UnsafeMutablePointer<rl_effect>
    private var completedCapacity = 0

    init() {
        steps = .allocate(capacity: 0)
        clocks = .allocate(capacity: 0)
        completed = .allocate(capacity: 0)
        effects = UnsafePointer(completed)
    }

    func deallocate() {
        steps.deallocate()
        clocks.deallocate()
        completed.deallocate()
    }

    // MARK: Reading the record

    mutating func read(
        _ record: UnsafePointer<rl_execution>, _ late: ContiguousArray<LateEffect>
    ) {
        self.record = record
        count = Int(record.pointee.step_count)
        threadCount = Int(record.pointee.thread_count)
        makeRoom()
        readSteps()
        readEffects(late)
    }

    private mutating func makeRoom() {
        guard count >= capacity else { return }
        let wanted = max(256, 2 * count)
        steps = grown(steps, from: 0, to: wanted)
        let row = Int(RL_MAX_THREADS)
        clocks = grown(clocks, from: capacity * row, to: wanted * row)
        capacity = wanted
    }

    /// The kinds of steps that attempt to take a lock.
    static let attempts = [UInt8(RL_TRY_LOCK.rawValue), UInt8(RL_TRY_SHARED_LOCK.rawValue)]

    private mutating func readSteps() {
        let run = record.pointee
        guard count > 0, let recorded = run.steps, let nodes = run.nodes else { return }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Int(RL_MAX_THREADS)) { numbers in
            numbers.initialize(repeating: 0)
            var firstMovable: UInt32 = 0
            for k in 0..<count {
                let step = recorded + k
                let thread = step.pointee.thread
                numbers[Int(thread)] += 1
                let end = k + 1 < count ? nodes[k + 1].first_effect : run.effect_count
                steps[k] = Step(
                    thread: thread, choice: rl_exact_choice(step), kind: step.pointee.kind,
                    isInRuntime: nodes[k].is_in_runtime, isBarrier: nodes[k].is_barrier,
                    isFailing: step.pointee.failed && Self.attempts.contains(step.pointee.kind),
                    number: numbers[Int(thread)], firstEffect: nodes[k].first_effect,
                    endEffect: end, firstMovable: firstMovable)
                if nodes[k].is_barrier { firstMovable = UInt32(k + 1) }
            }
            steps[count] = steps[count - 1]
            steps[count].firstMovable = firstMovable
        }
    }

    /// A step in which the run ended, because it crashes the process for example, may not have got
    /// as far as its effect. Then it has the one that it announced.
    private var lastHasNoEffect: Bool {
        count > 0 && steps[count - 1].firstEffect == record.pointee.effect_count
    }

    private mutating func readEffects(_ late: ContiguousArray<LateEffect>) {
        effectCount = Int(record.pointee.effect_count)
        effects = record.pointee.effects ?? UnsafePointer(completed)
        if late.isEmpty, !lastHasNoEffect { return }
        let recorded = effects
        let wanted = effectCount + late.count + 1
        if completedCapacity < wanted {
            completedCapacity = 2 * wanted
            completed = grown(completed, from: 0, to: completedCapacity)
        }
        var to = 0
        var next = 0
        for k in 0..<count {
            let (first, end) = (Int(steps[k].firstEffect), Int(steps[k].endEffect))
            steps[k].firstEffect = UInt32(to)
            for e in first..<end {
                completed[to] = recorded[e]
                to += 1
            }
            while next < late.count, late[next].step == k {
                completed[to] = late[next].effect
                (to, next) = (to + 1, next + 1)
            }
            if k + 1 == count, to == Int(steps[k].firstEffect) {
                completed[to] = rl_effect(pending(k, Int(steps[k].thread)))
                to += 1
            }
            steps[k].endEffect = UInt32(to)
        }
        effectCount = to
        effects = UnsafePointer(completed)
    }

    // MARK: What happens before what

    func clock(of step: Int) -> Clock { clocks + step * Int(RL_MAX_THREADS) }

    /// Whether a moment comes after a step.
    func happens(_ step: Int, before clock: Clock) -> Bool {
        steps[step].number <= clock[Int(steps[step].thread)]
    }

    func join(_ clock: Clock, _ other: Clock) {
        for thread in 0..<threadCount where other[thread] > clock[thread] {
            clock[thread] = other[thread]
        }
    }

    // MARK: The threads

    /// What is the same in all runs, in which threads have other numbers.
    func name(of thread: Int) -> UInt64 { record.pointee.origins[thread].name }

    /// The number of a thread in this run; `nil` if it has no such thread.
    func thread(named name: UInt64) -> Int? {
        (0..<threadCount).first { self.name(of: $0) == name }
    }

    func named(_ choice: UInt32) -> rl_named_choice {
        let thread = rl_chosen_thread(choice)
        return rl_named_choice(
            name: name(of: Int(thread)), of_thread_0: choice & ~UInt32(thread))
    }

    /// The choice in this run; `nil` if it has no such thread.
    func choice(_ named: rl_named_choice) -> UInt32? {
        thread(named: named.name).map { named.of_thread_0 | UInt32($0) }
    }

    /// The step that starts a thread; -1 if the scenario begins with it.
    func start(of thread: Int) -> Int { Int(record.pointee.origins[thread].step) }

    /// The next step of a thread before a step.
    func pending(_ step: Int, _ thread: Int) -> rl_pending {
        record.pointee.pending[step * Int(RL_MAX_THREADS) + thread]
    }

    func isFinished(_ thread: Int) -> Bool { record.pointee.finished >> UInt32(thread) & 1 != 0 }

    /// Whether a thread is enabled after exactly the steps that `done` covers.
    ///
    /// - Parameter next: its next step in the run; `nil` if there is none.
    func couldGoOn(_ thread: Int, after done: Clock, next: Int?) -> Bool {
        if next == nil, isFinished(thread) { return false }
        let at = next ?? count
        let pending = pending(at, thread)
        if pending.is_spinning { return false }
        for k in 0..<Int(record.pointee.order_count) {
            let order = record.pointee.orders[k]
            let isForIt = order.thread == thread && order.since < at && order.to >= at
            if isForIt, !happens(Int(order.from), before: done) { return false }
        }
        // The first remaining effect on the address shows how it was available until then.
        var own = rl_effect(pending)
        for k in 0..<count where !happens(k, before: done) {
            for e in Int(steps[k].firstEffect)..<Int(steps[k].endEffect)
            where effects[e].address == own.address {
                return rl_was_free(effects + e, &own)
            }
        }
        return next != nil
    }
}

/// Returns more room, and moves the first `used` elements there.
func grown<Element>(
    _ old: UnsafeMutablePointer<Element>, from used: Int, to wanted: Int
) -> UnsafeMutablePointer<Element> {
    let fresh = UnsafeMutablePointer<Element>.allocate(capacity: wanted)
    fresh.moveInitialize(from: old, count: used)
    old.deallocate()
    return fresh
}
