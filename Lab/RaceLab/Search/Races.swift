import CRaceLab

/// The second step of a race: a step of the run, or a pending one.
struct SecondStep {
    /// Its index, or the one that it would have.
    var at: Int
    var thread: Int
    var choice: UInt32
    var effects: UnsafePointer<rl_effect>
    var effectCount: Int
    var isInRuntime: Bool
    /// Whether it is known to crash the process. Then it is not made. It may depend on more than it
    /// has announced, so it races with every step that it does not follow.
    var crashes: Bool
    /// Of a pending step at which reference counts may change: the place in the code; otherwise 0.
    var countsAt: UInt = 0
}

/// Finds pairs of dependent steps that nothing else orders, and with each of them a sequence to
/// explore: the steps that lead to the second one without the first.
extension Reduction {
    /// Finds the races of a step of the run, and its clock.
    mutating func lookAtStep(_ k: Int) {
        let step = execution.steps[k]
        let crashes = execution.record.pointee.status == RL_CRASHES && k + 1 == execution.count
        let clock = execution.clock(of: k)
        if step.isBarrier {
            lookForRacesOfWaiting(at: k)
            clock.update(repeating: 0, count: Int(RL_MAX_THREADS))
            for earlier in 0..<k {
                clock[Int(execution.steps[earlier].thread)] = execution.steps[earlier].number
            }
        } else {
            lookForRaces(
                with: SecondStep(
                    at: k, thread: Int(step.thread), choice: step.choice,
                    effects: execution.effects + Int(step.firstEffect),
                    effectCount: Int(step.endEffect - step.firstEffect),
                    isInRuntime: step.isInRuntime || crashes, crashes: crashes))
            clock.update(from: all, count: Int(RL_MAX_THREADS))
        }
        clock[Int(step.thread)] = step.number
    }

    /// A thread that waits at the end of the run, or before a step that is possible only because no
    /// thread is enabled, races with the threads that took first what it waits for.
    mutating func lookForRacesOfWaiting(at k: Int, except others: rl_thread_set = 0) {
        for thread in 0..<execution.threadCount {
            let pending = execution.pending(k, thread)
            if pending.address == 0 || pending.is_spinning { continue }
            // What a load may read is another choice when it is made; it waits for nothing.
            if keepsStores, pending.kind == RL_ATOMIC_READ.rawValue { continue }
            if others >> UInt32(thread) & 1 != 0 { continue }
            own.pointee = rl_effect(
                address: pending.address, type: 0, kind: pending.kind, free_for: 0, store: 0,
                value: 0)
            let isTask = execution.record.pointee.tasks >> UInt32(thread) & 1 != 0
            lookForRaces(
                with: SecondStep(
                    at: k, thread: thread, choice: UInt32(thread), effects: UnsafePointer(own),
                    effectCount: 1, isInRuntime: isTask, crashes: false,
                    countsAt: rl_counts_at(counts.known, pending.pc) ? UInt(pending.pc) : 0))
        }
    }

    /// The clock of a thread before a step, in `known`: it covers the thread's own steps, and those
    /// that started or woke it.
    private func setKnown(before step: Int, _ thread: Int) {
        known.update(repeating: 0, count: Int(RL_MAX_THREADS))
        var k = step
        while k > 0, Int(execution.steps[k - 1].thread) != thread { k -= 1 }
        if k > 0 { known.update(from: execution.clock(of: k - 1), count: Int(RL_MAX_THREADS)) }
        let start = Int(execution.steps[step].firstMovable)
        if start > 0 { execution.join(known, execution.clock(of: start - 1)) }
        let orders = execution.record.pointee.orders
        for k in 0..<Int(execution.record.pointee.order_count) {
            let order = orders![k]
            if Int(order.thread) == thread, order.since < step, order.to >= step {
                execution.join(known, execution.clock(of: Int(order.from)))
            }
        }
    }

    /// Finds the steps that race with a step. Leaves the clock of that step in `all`.
    private mutating func lookForRaces(with second: SecondStep) {
        setKnown(before: second.at, second.thread)
        all.update(from: known, count: Int(RL_MAX_THREADS))
        counted.update(from: known, count: Int(RL_MAX_THREADS))
        let start = Int(execution.steps[second.at].firstMovable)
        let steps = execution.steps
        let effects = execution.effects
        var first = second.at - 1
        while first >= start {
            defer { first -= 1 }
            let step = steps[first]
            let thread = Int(step.thread)
            if thread == second.thread || step.number <= known[thread] { continue }
            if second.crashes {
                nodes[first].awake |= 1 << UInt32(thread)
                foundRace(of: first, with: second)
            }
            let (begin, end) = (effects + Int(step.firstEffect), effects + Int(step.endEffect))
            for e in 0..<second.effectCount {
                guard let conflict = rl_first_conflict(begin, end, second.effects + e) else {
                    continue
                }
                let order = rl_conflict_of(conflict, second.effects + e)
                if order.comes_before, step.number > all[thread] {
                    execution.join(all, execution.clock(of: first))
                }
                guard rl_was_free(conflict, second.effects + e) else { continue }
                if order.is_race {
                    var second = second
                    // It reads something else then.
                    if conflict.pointee.store != 0 { second.choice &= (1 << RL_STORE_SHIFT) - 1 }
                    foundRace(of: first, with: second)
                }
                guard order.comes_before else { continue }
                execution.join(known, execution.clock(of: first))
                break
            }
            if second.countsAt != 0,
                rl_touches_count(counts.known, second.countsAt, begin, end)
            {
                execution.join(counted, execution.clock(of: first))
            }
        }
    }

    private mutating func foundRace(of first: Int, with second: SecondStep) {
        guard first >= firstNode, first < limit, !nodes[first].isBarrier else { return }
        execution.join(counted, known)
        var sequence = StepSequence(without: first, second, counted, in: execution, room)
        if isAsleep(sequence, at: first) { return }
        let thread = sequence.thread(0, in: execution)
        let enabled = nodes[first].could.enabled >> UInt32(thread)
        if sequence.count == 1, enabled & 1 == 0 { return }
        if settings.faults & UInt32(RL_FAULT_SKIP_LAST_ALTERNATIVE) != 0, enabled == 1 { return }
        races.add(
            UInt(execution.record.pointee.steps[first].pc),
            UInt(execution.pending(second.at, second.thread).pc))
        trees.insert(&sequence, into: &nodes[first].wishes, at: first, of: execution, counts.known)
    }

    /// Whether exploring the sequence from a node would repeat what has been explored: a thread
    /// whose step has been explored from here makes that step in the sequence, and could make it
    /// first. It is not enough that such a step is missing from the sequence and independent of all
    /// of it. The sequence may continue with steps that depend on the missing one, and what has been
    /// explored need not lead there. Wakeup trees would lead there if the dependences of all their
    /// steps were known. They are not, so a few more runs are started than necessary.
    private func isAsleep(_ sequence: borrowing StepSequence, at node: Int) -> Bool {
        var asleep = nodes[node].sleep.threads | nodes[node].explored
        asleep &= ~(1 << UInt32(execution.steps[node].thread))
        while asleep != 0 {
            if sequence.firstStep(of: asleep.trailingZeroBitCount, in: execution) >= 0 {
                return true
            }
            asleep &= asleep - 1
        }
        if !keepsStores { return false }
        return readsWhatSleeps(sequence, at: node)
    }

    /// Whether a thread reads first a store of which that has been explored.
    private func readsWhatSleeps(_ sequence: borrowing StepSequence, at node: Int) -> Bool {
        for thread in 0..<execution.threadCount where slept(thread, at: node) > 0 {
            let at = sequence.firstStep(of: thread, in: execution)
            let choice = at >= 0 ? sequence.choice(at, in: execution) : 0
            let store = rl_chosen_store(choice)
            if store > 0, store <= slept(thread, at: node) { return true }
        }
        return false
    }
}
