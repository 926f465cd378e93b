import CRaceLab
import RaceLab

/// Runs toy programs as the engine runs threads: with the search of the lab, but without a thread.
package final class ToyEngine {
    /// Something that may be wrong in the lab. The search must not get away with it.
    package enum Fault: CaseIterable, Sendable {
        /// The order of a write and a read does not matter.
        case readsAreIndependent
        /// What happens to a lock does not matter to those who want it.
        case locksAreIndependent
        /// It does not matter who releases the last reference.
        case countsAreIndependent
        /// No attempt comes right before a release.
        case noEarlyAttempts
        /// A thread remains asleep although an attempt has come right before its release.
        case holdersStayAsleep
        /// A thread remains asleep whatever the others do.
        case sleepersStayAsleep
        /// No thread is asleep: what has been explored is explored again.
        case nobodySleeps
        /// A wakeup tree does not get the branches of the last enabled thread.
        case treesLackBranches

        /// Whether only programs with attempts to take a lock notice it.
        package var isAboutAttempts: Bool { self == .noEarlyAttempts || self == .holdersStayAsleep }
    }

    /// What the exploration of a program has shown.
    package struct Result: Equatable, Sendable {
        /// How many runs were completed, and how many were redundant.
        package var (explored, redundant) = (0, 0)
        /// How many equivalence classes the explored runs have, and how many all permutations have.
        package var (found, existing) = (0, 0)
        /// How many of those found no permutation has.
        package var unknown = 0

        /// Whether each equivalence class was explored exactly once.
        package var isExact: Bool { explored == found && isComplete }
        package var isComplete: Bool { found == existing && unknown == 0 }
    }

    private var search: Search
    private let settings: SearchSettings
    private let fault: Fault?
    private var execution = rl_execution()
    private var plan = rl_plan()
    private let steps = filled(most, rl_step())
    private let nodes = filled(most, rl_node())
    private let pending = filled(most * row, rl_pending())
    private let kinds = filled(most * row, UInt8(0))
    private let effects = filled(3 * most, rl_effect())
    private let fingerprints = filled(most, UInt64(0))
    private let objects = filled(2, rl_counted_object())
    private let countings = filled(2 * most, rl_counting())
    private var countingCount = 0
    private let origins = UnsafeMutablePointer<rl_origin>.allocate(capacity: row)
    private var sleeping: rl_thread_set = 0
    private var asleepEarly: rl_thread_set = 0
    private var sleepingInRuntime: rl_thread_set = 0
    private let sleepers = filled(row, rl_sleeper())
    private var (found, existing): (Set<UInt64>, Set<UInt64>) = ([], [])

    private static let row = Int(RL_MAX_THREADS)
    private static let most = Machine.threads * Machine.operations + 1

    private static func filled<Value>(_ count: Int, _ value: Value) -> UnsafeMutablePointer<Value> {
        let memory = UnsafeMutablePointer<Value>.allocate(capacity: count)
        memory.initialize(repeating: value, count: count)
        return memory
    }

    package init(_ fault: Fault? = nil) {
        self.fault = fault
        var settings = SearchSettings()
        if fault == .treesLackBranches { settings.faults = UInt32(RL_FAULT_SKIP_LAST_ALTERNATIVE) }
        if fault == .noEarlyAttempts { settings.faults = UInt32(RL_FAULT_NO_EARLY_ATTEMPTS) }
        self.settings = settings
        search = Search(settings)
        // Every thread is there from the beginning.
        for thread in 0..<Self.row {
            let origin = rl_origin(name: UInt64(thread), starter: -1, step: -1)
            (origins + thread).initialize(to: origin)
        }
    }

    deinit {
        steps.deallocate()
        nodes.deallocate()
        pending.deallocate()
        kinds.deallocate()
        effects.deallocate()
        fingerprints.deallocate()
        objects.deallocate()
        countings.deallocate()
        origins.deallocate()
        sleepers.deallocate()
    }

    /// Explores a program with the search, and by trying all permutations of its steps.
    package func explore(_ program: Program) -> Result {
        var result = Result()
        found.removeAll(keepingCapacity: true)
        existing.removeAll(keepingCapacity: true)
        tryAll(Machine(program), program.threads.count)
        search = Search(settings)
        plan = rl_plan()
        // A fault may make the search endless.
        while result.explored + result.redundant < 10_000 {
            if let key = run(Machine(program), program.threads.count) {
                result.explored += 1
                found.insert(key)
            } else {
                result.redundant += 1
            }
            plan = rl_plan()
            guard search.learn(from: &execution) else {
                search.startOver()
                (result.explored, result.redundant) = (0, 0)
                found.removeAll(keepingCapacity: true)
                continue
            }
            guard search.choose(&plan) else { break }
        }
        result.found = found.count
        result.existing = existing.count
        result.unknown = found.subtracting(existing).count
        return result
    }

    private func tryAll(_ machine: Machine, _ threadCount: Int) {
        let enabled = machine.enabled
        if enabled == 0 { existing.insert(machine.key) }
        for thread in 0..<threadCount where enabled >> UInt32(thread) & 1 != 0 {
            var next = machine
            next.step(thread)
            tryAll(next, threadCount)
            guard machine.holder(thread) != nil else { continue }
            next = machine
            next.step(thread, isEarly: true)
            tryAll(next, threadCount)
        }
    }

    // MARK: A run

    /// Returns the equivalence class of the run; `nil` if the run is redundant.
    private func run(_ start: Machine, _ threadCount: Int) -> UInt64? {
        var machine = start
        var (count, effectCount, limit) = (0, 0, UInt32.max)
        (sleeping, asleepEarly, sleepingInRuntime) = (0, 0, 0)
        beginCounting(start)
        var wishes = plan.first_wish
        var last = 0
        while true {
            let isPrescribed = count < plan.length
            if count + 1 == plan.length { fallAsleep() }
            let enabled = machine.enabled
            var left: UInt32 = 0
            if !isPrescribed { (left, wishes) = (wishes, 0) }
            recordNode(count, machine, threadCount, enabled, effectCount)
            if enabled == 0 {
                nodes[count].wishes = left
                break
            }
            var thread: Int
            var isEarly = false
            if isPrescribed {
                thread = Int(rl_chosen_thread(plan.choices[count]))
                isEarly = rl_chosen_way(plan.choices[count]) != 0
            } else {
                thread = -1
                while left != 0, thread < 0 {
                    let wish = plan.wishes[Int(left)]
                    left = wish.next
                    let choice = wish.choice.of_thread_0 | UInt32(wish.choice.name)
                    let isPossible = rl_is_possible(
                        choice, &nodes[count].could, sleeping, asleepEarly)
                    guard isPossible else { continue }
                    thread = Int(rl_chosen_thread(choice))
                    isEarly = rl_chosen_way(choice) != 0 && !machine.fails(thread)
                    wishes = wish.child
                }
                nodes[count].wishes = left
                if thread < 0 {
                    if enabled & ~sleeping == 0 {
                        limit = min(limit, UInt32(count))
                        (sleeping, asleepEarly) = (0, 0)
                    }
                    let useful = enabled & ~sleeping
                    let goesOn = useful >> UInt32(last) & 1 != 0
                    thread = goesOn ? last : useful.trailingZeroBitCount
                }
            }
            let (kind, address) = machine.next(thread)
            steps[count].thread = UInt8(thread)
            steps[count].kind = kind
            steps[count].address = address
            steps[count].pc = machine.place(thread)
            steps[count].early = isEarly
            steps[count].failed = isEarly || machine.fails(thread)
            let holder = isEarly ? machine.holder(thread)! : -1
            steps[count].before = Int8(holder)
            asleepEarly &= ~(1 << UInt32(thread))
            if isEarly, fault != .holdersStayAsleep {
                sleeping &= ~(1 << UInt32(holder))
                asleepEarly &= ~(1 << UInt32(holder))
            }
            machine.step(
                thread, isEarly: isEarly,
                { effect in
                    effects[effectCount] = seen(effect)
                    wakeDependent(count, effects[effectCount], threadCount)
                    effectCount += 1
                },
                dropped: { object, left in
                    noteDrop(of: object, thread, count)
                    wakeDependent(count, object, left, threadCount)
                },
                touched: { thing in
                    let written = UInt8(RL_ATOMIC_WRITE.rawValue)
                    effects[effectCount] = seen(
                        rl_effect(
                            address: UInt(thing + 7), type: 0, kind: written, free_for: 0,
                            store: 0, value: 0))
                    nodes[count].is_in_runtime = true
                    wakeDependent(count, effects[effectCount], threadCount, isInRuntime: true)
                    effectCount += 1
                })
            last = thread
            count += 1
        }
        record(count, effectCount, limit, threadCount)
        return limit == .max ? machine.key : nil
    }

    private func fallAsleep() {
        for thread in 0..<Self.row { sleepers[thread].kind = plan.kinds[thread] }
        if fault == .nobodySleeps { return }
        (sleeping, asleepEarly) = (plan.sleeping, plan.asleep_early)
        sleepingInRuntime = plan.in_runtime
    }

    private func wakeDependent(
        _ count: Int, _ effect: rl_effect, _ threadCount: Int, isInRuntime: Bool = false
    ) {
        if sleeping | asleepEarly == 0 || fault == .sleepersStayAsleep { return }
        for thread in 0..<threadCount {
            sleepers[thread].address = pending[count * Self.row + thread].address
        }
        let (kind, address) = (effect.kind, effect.address)
        sleeping = rl_still_asleep(
            sleeping, sleepers, sleepingInRuntime, kind, address, isInRuntime)
        asleepEarly = rl_still_asleep_early(asleepEarly, sleepers, kind, address)
    }

    // MARK: Objects

    private func beginCounting(_ machine: Machine) {
        countingCount = 0
        for object in 0..<2 {
            objects[object] = rl_counted_object()
            objects[object].object = UInt(object + 5)
            objects[object].type = UInt(object + 5)
            objects[object].at_first = Int64(machine.references[object])
            objects[object].is_observed = machine.references[object] > 0
            objects[object].is_counted = machine.references[object] > 0
        }
    }

    private func noteDrop(of object: Int, _ thread: Int, _ step: Int) {
        if fault == .countsAreIndependent { return }
        let before = rl_change(objects + object, Int32(thread))
        rl_set_change(objects + object, Int32(thread), before - 1)
        if countingCount > 0, countings[countingCount - 1].step == step,
            countings[countingCount - 1].of == object
        {
            countings[countingCount - 1].after -= 1
            countings[countingCount - 1].least -= 1
            return
        }
        countings[countingCount] = rl_counting(
            of: object, step: UInt32(step), by: Int8(thread), before: before, after: before - 1,
            least: before - 1, looks: false)
        countingCount += 1
    }

    private func wakeDependent(_ count: Int, _ object: Int, _ left: Int, _ threadCount: Int) {
        if sleeping | asleepEarly == 0 || fault == .sleepersStayAsleep { return }
        for thread in 0..<threadCount where (sleeping | asleepEarly) >> UInt32(thread) & 1 != 0 {
            let place = pending[count * Self.row + thread].pc
            let type = objects[object].type
            if rl_depends_on_drop(search.knownCounts, place, Int64(left), type) {
                sleeping &= ~(1 << UInt32(thread))
                asleepEarly &= ~(1 << UInt32(thread))
            }
        }
    }

    /// An effect as the search sees it. As in the lab, no two addresses are adjacent.
    private func seen(_ effect: rl_effect) -> rl_effect {
        var effect = effect
        effect.address *= 16
        let kind = rl_kind(rawValue: UInt32(effect.kind))
        if fault == .readsAreIndependent, kind == RL_ATOMIC_READ { effect.address += 100 }
        let isOfLock = kind == RL_LOCK || effect.kind == UInt8(RL_UNLOCK)
        if fault == .locksAreIndependent, isOfLock { effect.address += 100 }
        return effect
    }

    private func recordNode(
        _ count: Int, _ machine: Machine, _ threadCount: Int, _ enabled: rl_thread_set,
        _ effectCount: Int
    ) {
        nodes[count] = rl_node()
        nodes[count].could.enabled = enabled
        nodes[count].could.early = machine.early
        for thread in 0..<threadCount where machine.fails(thread) {
            nodes[count].could.failing |= 1 << UInt32(thread)
        }
        nodes[count].sleeping = sleeping
        nodes[count].asleep_early = asleepEarly
        nodes[count].in_runtime = sleepingInRuntime
        nodes[count].first_effect = UInt32(effectCount)
        for thread in 0..<threadCount {
            let waits = !machine.isFinished(thread)
            let (kind, address) = waits ? machine.next(thread) : (0, 0)
            pending[count * Self.row + thread] = rl_pending(
                address: waits ? 16 * address : 0, pc: machine.place(thread), kind: kind,
                waits: waits,
                is_spinning: !waits)
            if sleeping != 0 { kinds[count * Self.row + thread] = sleepers[thread].kind }
        }
    }

    private func record(_ count: Int, _ effectCount: Int, _ limit: UInt32, _ threadCount: Int) {
        execution.status = RL_COMPLETE
        execution.thread_count = Int32(threadCount)
        execution.origins = UnsafePointer(origins)
        execution.step_count = UInt32(count)
        execution.prescribed = plan.length
        execution.limit = limit
        execution.steps = UnsafePointer(steps)
        execution.fingerprints = UnsafePointer(fingerprints)
        execution.nodes = UnsafePointer(nodes)
        execution.pending = UnsafePointer(pending)
        execution.kinds = UnsafePointer(kinds)
        execution.effects = UnsafePointer(effects)
        execution.effect_count = UInt32(effectCount)
        execution.finished = 0
        for thread in 0..<threadCount where !pending[count * Self.row + thread].waits {
            execution.finished |= 1 << UInt32(thread)
        }
        execution.objects = UnsafePointer(objects)
        execution.object_count = 2
        execution.countings = UnsafePointer(countings)
        execution.counting_count = countingCount
    }
}

extension ToyEngine {
    /// What the exploration of many programs has shown.
    package struct Total: Sendable {
        package private(set) var (explored, redundant) = (0, 0)
        /// The programs of which an equivalence class was missed, does not exist, or was explored
        /// twice although it should not be; at most ten of them.
        package private(set) var wrong: [Program] = []

        package init(of programs: [Program], _ fault: Fault? = nil, canRepeat: Bool = false) {
            let engine = ToyEngine(fault)
            for program in programs {
                let result = engine.explore(program)
                explored += result.explored
                redundant += result.redundant
                if !(canRepeat ? result.isComplete : result.isExact) { wrong.append(program) }
                if wrong.count == 10 { return }
            }
        }
    }
}
