import CRaceLab

// The engine's data about a run, as Swift values instead of pointers and counts.

extension rl_run {
    var schedule: Exploration.Schedule { Exploration.Schedule(allSteps) }

    var allSteps: UnsafeBufferPointer<rl_step> {
        UnsafeBufferPointer(start: steps, count: Int(step_count))
    }

    /// The code address of each step; 0 for a note, which has none.
    var places: [UInt] {
        allSteps.map { $0.kind == RL_NOTE.rawValue ? 0 : UInt($0.pc) }
    }

    var allRaces: UnsafeBufferPointer<rl_race> {
        UnsafeBufferPointer(start: races, count: Int(race_count))
    }

    var allWaiting: [rl_waiting] {
        withUnsafeBytes(of: waiting) {
            Array($0.bindMemory(to: rl_waiting.self).prefix(Int(thread_count)))
        }
    }

    var allFrames: [UInt] {
        withUnsafeBytes(of: frames) {
            Array($0.bindMemory(to: UInt.self).prefix(Int(frame_count)))
        }
    }

    /// The size by which the smallest interleaving with a finding is chosen.
    var size: RunSize {
        RunSize(
            old: UInt32(allSteps.count { $0.is_old }), forced: forced_switches, switches: switches,
            steps: step_count)
    }

    func accesses(of thread: Int) -> UInt32 {
        withUnsafeBytes(of: accesses) { $0.bindMemory(to: UInt32.self)[thread] }
    }
}

extension rl_race {
    var accesses: [Access] {
        [
            Access(pc: UInt(first_pc), modifies: first_kind == RL_MODIFY.rawValue),
            Access(pc: UInt(second_pc), modifies: second_kind == RL_MODIFY.rawValue),
        ]
    }
}

extension Exploration.Schedule {
    /// Creates the schedule of these steps.
    init(_ steps: some Collection<rl_step>) {
        self.init(
            choicesOfEngine: steps.map { step in withUnsafePointer(to: step) { rl_choice($0) } })
    }

    init(choicesOfEngine: [UInt32]) {
        func indices(of mark: Int32) -> Set<Int> {
            Set(
                choicesOfEngine.indices.filter {
                    rl_chosen_way(choicesOfEngine[$0]) == UInt8(mark)
                })
        }
        self.init(
            choicesOfEngine.map { Int(rl_chosen_thread($0)) }, early: indices(of: RL_EARLY),
            timedOut: indices(of: RL_TIME_OUT), spurious: indices(of: RL_SPURIOUS),
            old: Dictionary(
                uniqueKeysWithValues: choicesOfEngine.enumerated().compactMap { step, choice in
                    let store = Int(rl_chosen_store(choice))
                    return store > 0 ? (step, store - 1) : nil
                }))
    }

    /// The choices in the engine's encoding. An invalid thread index becomes `RL_MAX_THREADS`,
    /// which the engine rejects as unknown.
    var choicesOfEngine: [UInt32] {
        let nobody = Int(RL_MAX_THREADS)
        return choices.enumerated().map { index, thread in
            var choice = UInt32((0..<nobody).contains(thread) ? thread : nobody)
            if early.contains(index) { choice |= UInt32(RL_EARLY) }
            if timedOut.contains(index) { choice |= UInt32(RL_TIME_OUT) }
            if spurious.contains(index) { choice |= UInt32(RL_SPURIOUS) }
            if let store = old[index] { choice |= UInt32(store + 1) << UInt32(RL_STORE_SHIFT) }
            return choice
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
