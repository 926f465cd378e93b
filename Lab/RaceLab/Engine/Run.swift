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

    var allWaiting: [rl_waiting] { elements(of: waiting, thread_count) }

    var allFrames: [UInt] { elements(of: frames, frame_count) }

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

/// The first elements of an array in a structure of C, which Swift sees as a tuple.
func elements<Tuple, Element>(of array: Tuple, _ count: some BinaryInteger) -> [Element] {
    if count == 0 { return [] }
    return withUnsafeBytes(of: array) { Array($0.bindMemory(to: Element.self).prefix(Int(count))) }
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
        self.init(choicesOfEngine.map { Int(rl_chosen_thread($0)) }) {
            Mark(choiceOfEngine: choicesOfEngine[$0])
        }
    }

    /// The choices in the engine's encoding. An invalid thread index becomes `RL_MAX_THREADS`,
    /// which the engine rejects as unknown.
    var choicesOfEngine: [UInt32] {
        let nobody = Int(RL_MAX_THREADS)
        return choices.enumerated().map { index, thread in
            let choice = UInt32((0..<nobody).contains(thread) ? thread : nobody)
            return choice | (marks[index]?.ofEngine ?? 0)
        }
    }
}

extension Exploration.Schedule.Mark {
    fileprivate init?(choiceOfEngine choice: UInt32) {
        let store = Int(rl_chosen_store(choice))
        switch Int32(rl_chosen_way(choice)) {
        case RL_EARLY: self = .early
        case RL_TIME_OUT: self = .timedOut
        case RL_SPURIOUS: self = .spurious
        case _ where store > 0: self = .old(store - 1)
        default: return nil
        }
    }

    fileprivate var ofEngine: UInt32 {
        switch self {
        case .early: UInt32(RL_EARLY)
        case .timedOut: UInt32(RL_TIME_OUT)
        case .spurious: UInt32(RL_SPURIOUS)
        case .old(let number): UInt32(number + 1) << UInt32(RL_STORE_SHIFT)
        }
    }
}
