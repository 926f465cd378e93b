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
    /// Of an early attempt: the thread whose release it misses.
    var holder: Int?
}

/// The release of a lock: an effect of a step.
struct Release {
    var step, effect: Int
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
            let isAttempt = Execution.attempts.contains(step.kind)
            let isAfterRelease = isAttempt && (step.isEarly || !step.isFailing)
            var releases = isAfterRelease ? releases(before: k) : []
            if step.isEarly {
                let holder = execution.record.pointee.steps[k].before
                releases.removeAll { execution.steps[$0.step].thread != holder }
            } else {
                for release in releases { explore(attempt: k, before: release) }
            }
            lookForRaces(
                with: SecondStep(
                    at: k, thread: Int(step.thread),
                    // Before another step, it reads what is newest there.
                    choice: crashes ? rl_without_store(step.choice) : step.choice,
                    effects: execution.effects + Int(step.firstEffect),
                    effectCount: Int(step.endEffect - step.firstEffect),
                    isInRuntime: step.isInRuntime || crashes, crashes: crashes),
                missed: step.isEarly ? releases.first : nil,
                released: step.isEarly ? [] : releases)
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
            own.pointee = rl_effect(pending)
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
        // The early attempts that have missed what the thread released then.
        for attempt in k..<step where execution.steps[attempt].isEarly {
            if Int(execution.record.pointee.steps[attempt].before) == thread {
                execution.join(known, execution.clock(of: attempt))
            }
        }
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
    ///
    /// - Parameters:
    ///   - missed: the release that the step, an early attempt, comes right before.
    ///   - released: the releases that have come before the step, an attempt that succeeds.
    private mutating func lookForRaces(
        with second: SecondStep, missed: Release? = nil, released: [Release] = []
    ) {
        setKnown(before: second.at, second.thread)
        all.update(from: known, count: Int(RL_MAX_THREADS))
        counted.update(from: known, count: Int(RL_MAX_THREADS))
        let start = Int(execution.steps[second.at].firstMovable)
        let steps = execution.steps
        let effects = execution.effects
        /// The step that made available what the second step waits for; `nil` once the step that took
        /// it is found. Between the two, the second step was not enabled.
        var awaited: Int?
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
                // What an early attempt misses comes after it.
                if let missed, missed.step == first, rl_is_release(conflict.pointee.kind) {
                    continue
                }
                let order = rl_conflict_of(conflict, second.effects + e)
                if order.comes_before, step.number > all[thread] {
                    execution.join(all, execution.clock(of: first))
                }
                guard rl_was_free(conflict, second.effects + e) else {
                    // Its thread has waited for the first one.
                    if e > 0 { continue }
                    awaited = awaited ?? first
                    break
                }
                if e == 0 { awaited = nil }
                // The second step cannot come before this one, only before the one that took the lock.
                if let awaited, execution.clock(of: awaited)[thread] >= step.number { continue }
                let isHandled = e == 0 && released.contains { $0.step == first }
                if order.is_race, !isHandled {
                    var second = second
                    // It reads something else then.
                    if conflict.pointee.store != 0 {
                        second.choice = rl_without_store(second.choice)
                    }
                    // There is no release yet that it could miss.
                    if missed != nil { second.choice = UInt32(second.thread) }
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
        let (thread, number) = (Int(execution.steps[first].thread), execution.steps[first].number)
        var sequence = StepSequence(second, counted, room)
        for k in first + 1..<max(first + 1, second.at)
        where execution.clock(of: k)[thread] < number {
            sequence.add(k)
        }
        explore(&sequence, at: first)
    }

    /// Inserts a sequence into the wakeup tree of a node, unless that has been explored.
    private mutating func explore(_ sequence: inout StepSequence, at first: Int) {
        let second = sequence.last
        if isAsleep(sequence, at: first) { return }
        let thread = sequence.thread(0, in: execution)
        let could = nodes[first].could
        let isFailing = rl_chosen_way(sequence.choice(0, in: execution)) == UInt8(RL_EARLY)
        let enabled = (isFailing ? could.early | could.failing : could.enabled) >> UInt32(thread)
        if sequence.count == 1, enabled & 1 == 0 { return }
        if settings.faults & UInt32(RL_FAULT_SKIP_LAST_ALTERNATIVE) != 0, enabled == 1 { return }
        races.add(
            UInt(execution.record.pointee.steps[first].pc),
            UInt(execution.pending(second.at, second.thread).pc))
        if second.holder != nil, sequence.count == 1 {
            // A sleeping attempt is no longer made, so this is explored before the attempt sleeps.
            trees.addFirst(execution.named(second.choice), to: &nodes[first].wishes)
            return
        }
        trees.insert(&sequence, into: &nodes[first].wishes, at: first, of: execution, counts.known)
    }

    // MARK: Attempts right before a release

    /// An attempt to take a lock races with the last release of that lock. The release belongs to
    /// the step before it, and until the next step of its thread, the attempt can come before it.
    /// So the sequence to explore is the steps after the one with the release that do not depend on
    /// the release, and then the attempt.
    private mutating func explore(attempt second: Int, before missed: Release) {
        if settings.faults & UInt32(RL_FAULT_NO_EARLY_ATTEMPTS) != 0 { return }
        // `orderSteps` looks for no races, and has allocated no `room` for a sequence.
        if limit == 0 { return }
        let step = execution.steps[second]
        let thread = Int(step.thread)
        let (first, release) = (missed.step, missed.effect)
        setKnown(before: second, thread)
        counted.update(from: known, count: Int(RL_MAX_THREADS))
        execution.join(counted, execution.clock(of: first))
        let releases = execution.effects + release
        let isTask = execution.record.pointee.tasks >> UInt32(thread) & 1 != 0
        let pc = execution.pending(second, thread).pc
        let attempt = SecondStep(
            at: second, thread: thread, choice: UInt32(thread) | UInt32(RL_EARLY),
            effects: releases, effectCount: Int(execution.steps[first].endEffect) - release,
            isInRuntime: isTask, crashes: false, holder: Int(execution.steps[first].thread))
        var sequence = StepSequence(attempt, counted, room)
        var node = second
        // For each thread, its first step that depends on the release.
        all.update(repeating: .max, count: Int(RL_MAX_THREADS))
        for k in first + 1..<second {
            if depends(k, on: attempt) {
                let thread = Int(execution.steps[k].thread)
                all[thread] = min(all[thread], execution.steps[k].number)
                node = min(node, k)
            } else if node < second {
                sequence.add(k)
                if rl_counts_at(counts.known, pc) {
                    execution.join(counted, execution.clock(of: k))
                }
            }
        }
        for thread in 0..<execution.threadCount where known[thread] >= all[thread] { return }
        guard node >= max(firstNode, Int(step.firstMovable)), node < limit else { return }
        if !nodes[node].isBarrier { explore(&sequence, at: node) }
    }

    /// The releases that an attempt could come right before: the last one, by another thread, or
    /// those of all readers after the lock was last taken alone. Each of these could be the last.
    private func releases(before second: Int) -> [Release] {
        let thread = execution.steps[second].thread
        let pending = execution.pending(second, Int(thread))
        let wanted =
            pending.kind == RL_TRY_LOCK.rawValue ? RL_FREE_FOR_ONE : RL_FREE_FOR_READERS
        var found: [Release] = []
        for k in (0..<second).reversed() {
            let step = execution.steps[k]
            for e in (Int(step.firstEffect)..<Int(step.endEffect)).reversed() {
                let effect = execution.effects[e]
                if effect.address != pending.address || rl_only_reads(effect.kind) { continue }
                // A wait for a condition releases its lock at once.
                let isRelease =
                    rl_is_release(effect.kind) && Int(effect.free_for) & wanted == 0
                    && step.kind != RL_WAIT.rawValue
                if isRelease, step.thread != thread { found.append(Release(step: k, effect: e)) }
                if !rl_is_readers(effect.kind) { return found }
            }
        }
        return found
    }

    /// Whether a step cannot come before the release that an attempt misses.
    private func depends(_ k: Int, on attempt: SecondStep) -> Bool {
        let step = execution.steps[k]
        if Int(step.thread) == attempt.holder { return true }
        let clock = execution.clock(of: k)
        for thread in 0..<execution.threadCount where clock[thread] >= all[thread] { return true }
        // It comes before the release, too.
        if step.isEarly, Int(execution.record.pointee.steps[k].before) == attempt.holder {
            return false
        }
        let effects = execution.effects
        let (begin, end) = (effects + Int(step.firstEffect), effects + Int(step.endEffect))
        for e in 0..<attempt.effectCount where rl_is_release(attempt.effects[e].kind) {
            if rl_first_conflict(begin, end, attempt.effects + e) != nil { return true }
        }
        own.pointee = attempt.effects[0]
        own.pointee.address = rl_missed_releases_of(own.pointee.address)
        return rl_first_conflict(begin, end, own) != nil
    }

    /// Whether exploring the sequence from a node would repeat what has been explored: a thread
    /// whose step has been explored from here makes that step in the sequence, and could make it
    /// first. It is not enough that such a step is missing from the sequence and independent of all
    /// of it. The sequence may continue with steps that depend on the missing one, and what has
    /// been explored need not lead there. Wakeup trees would lead there if the dependences of all
    /// their steps were known. They are not, so a few more runs are started than necessary.
    private func isAsleep(_ sequence: borrowing StepSequence, at node: Int) -> Bool {
        let plain = nodes[node].sleep.threads | nodes[node].explored.enabled
        let early = nodes[node].sleep.early | nodes[node].explored.early
        let step = execution.steps[node]
        var asleep = (plain | early) & ~(step.isEarly ? 0 : 1 << UInt32(step.thread))
        while asleep != 0 {
            let thread = asleep.trailingZeroBitCount
            asleep &= asleep - 1
            let at = sequence.firstStep(of: thread, in: execution)
            if at < 0 { continue }
            let isEarly = rl_chosen_way(sequence.choice(at, in: execution)) == UInt8(RL_EARLY)
            if (isEarly ? early : plain) >> UInt32(thread) & 1 != 0 { return true }
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
