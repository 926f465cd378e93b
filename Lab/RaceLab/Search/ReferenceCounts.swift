import CRaceLab

/// What the runs of an exploration show about reference counts.
///
/// An object is *observed* if a thread loads it through a weak reference, asks whether it is
/// uniquely referenced, or if its deinitialization makes steps. Observed objects matter only if
/// they could end while the threads run: if some reference keeps the object alive all the time, the
/// order of the other retains and releases decides nothing. Otherwise the step that removes the
/// last reference depends on those that remove others, and on those that observe the object. Two
/// steps neither of which removes the last one do not depend on each other.
///
/// What matters is known after a run. In later runs the engine uses the classes of observed
/// objects, and the places in the code whose steps change their counts. When a run adds to that,
/// the exploration starts over.
final class ReferenceCounts {
    /// What the engine reads. Does not move.
    let known: UnsafeMutablePointer<rl_known_counts>
    private var types = UnsafeMutablePointer<UInt>.allocate(capacity: 0)
    private var places = UnsafeMutablePointer<rl_counting_place>.allocate(capacity: 0)

    init() {
        known = .allocate(capacity: 1)
        known.initialize(to: rl_known_counts())
    }

    deinit {
        known.deallocate()
        types.deallocate()
        places.deallocate()
    }

    // MARK: Learning

    /// Returns whether the run has shown something new.
    func learn(from run: UnsafePointer<rl_execution>) -> Bool {
        if run.pointee.group_order_shows, !known.pointee.group_order_shows {
            known.pointee.group_order_shows = true
            return true
        }
        if learnTypes(from: run) { return true }
        return known.pointee.type_count > 0 && learnPlaces(from: run)
    }

    private func learnTypes(from run: UnsafePointer<rl_execution>) -> Bool {
        var hasLearned = false
        for k in 0..<run.pointee.object_count where run.pointee.objects[k].is_observed {
            let type = run.pointee.objects[k].type
            if rl_is_of_interest(known, type) { continue }
            let count = known.pointee.type_count
            types = grown(types, from: count, to: count + 1)
            types[count] = type
            known.pointee.types = UnsafePointer(types)
            known.pointee.type_count = count + 1
            hasLearned = true
        }
        return hasLearned
    }

    private func learnPlaces(from run: UnsafePointer<rl_execution>) -> Bool {
        var hasLearned = false
        for k in 0..<run.pointee.counting_count {
            let counting = run.pointee.countings[k]
            let object = run.pointee.objects + counting.of
            let asks = counting.looks && object.pointee.asks_for_uniqueness
            let place = rl_counting_place(
                pc: run.pointee.steps[Int(counting.step)].pc, type: object.pointee.type,
                changes: !counting.looks, most: asks ? 1 : counting.before - counting.least)
            guard decides(object, in: run), depends(counting, in: run),
                !rl_counts_type_at(known, place)
            else { continue }
            let count = known.pointee.place_count
            places = grown(places, from: count, to: count + 1)
            places[count] = place
            known.pointee.places = UnsafePointer(places)
            known.pointee.place_count = count + 1
            hasLearned = true
        }
        return hasLearned
    }

    // MARK: Effects

    /// The effects of the steps on counts that matter, in the order of the steps.
    func effects(in run: UnsafePointer<rl_execution>) -> ContiguousArray<LateEffect> {
        var effects: ContiguousArray<LateEffect> = []
        if known.pointee.type_count == 0 { return effects }
        var left: [Int: Int64] = [:]
        for k in 0..<run.pointee.counting_count {
            let counting = run.pointee.countings[k]
            let object = run.pointee.objects + counting.of
            let before = left[counting.of] ?? object.pointee.at_first
            left[counting.of] = before + Int64(counting.after - counting.before)
            guard decides(object, in: run), depends(counting, in: run) else { continue }
            let kind = UInt8(kind(counting, before, in: run))
            let effect = rl_effect(
                address: object.pointee.object, type: object.pointee.type, kind: kind, free_for: 0,
                store: 0, value: 0)
            effects.append(LateEffect(step: Int(counting.step), effect: effect))
        }
        return effects
    }

    /// - Parameter before: how many references there were before the step.
    private func kind(
        _ counting: rl_counting, _ before: Int64, in run: UnsafePointer<rl_execution>
    ) -> Int {
        if counting.looks { return RL_LOOK }
        let object = run.pointee.objects + counting.of
        var atLast = object.pointee.at_first
        for thread in 0..<run.pointee.thread_count {
            atLast += Int64(rl_change(object, thread))
        }
        if object.pointee.asks_for_uniqueness || atLast > 0 { return RL_COUNT }
        return before + Int64(counting.least - counting.before) > 0 ? RL_DROP : RL_LAST
    }

    /// Whether a thread waits at the end. What it would have done to the counts is unknown.
    private func isStuck(_ run: UnsafePointer<rl_execution>) -> Bool {
        let all = rl_thread_set.max >> UInt32(32 - run.pointee.thread_count)
        return run.pointee.finished & all != all
    }

    /// Whether some order of what the threads have done leaves no reference when thread `by` has
    /// changed the count by `change`.
    private func couldEnd(
        _ object: UnsafePointer<rl_counted_object>, by: Int32, _ change: Int32,
        in run: UnsafePointer<rl_execution>
    ) -> Bool {
        if isStuck(run) { return object.pointee.is_counted }
        var least = object.pointee.at_first + Int64(change)
        for thread in 0..<run.pointee.thread_count where thread != by {
            least += Int64(rl_least_change(object, thread))
        }
        return object.pointee.is_counted && least <= 0
    }

    private func decides(
        _ object: UnsafePointer<rl_counted_object>, in run: UnsafePointer<rl_execution>
    ) -> Bool {
        (object.pointee.is_observed || isStuck(run))
            && (object.pointee.asks_for_uniqueness
                || couldEnd(object, by: 0, rl_least_change(object, 0), in: run))
    }

    /// A step that cannot remove the last reference can be permuted freely.
    private func depends(_ counting: rl_counting, in run: UnsafePointer<rl_execution>) -> Bool {
        let object = run.pointee.objects + counting.of
        let asks = object.pointee.asks_for_uniqueness
        if counting.looks || (asks && counting.after != counting.before) { return true }
        return counting.least < counting.before
            && couldEnd(object, by: Int32(counting.by), counting.least, in: run)
    }
}
