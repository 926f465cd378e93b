import CRaceLab

// What the engine hands over about a run, as Swift values instead of pointers and counts.

extension rl_run {
    var schedule: Schedule { Schedule(allSteps) }

    var allSteps: UnsafeBufferPointer<rl_step> {
        UnsafeBufferPointer(start: steps, count: Int(step_count))
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

    /// How often somebody else went on although the one before could have.
    var forcedSwitches: Int {
        let steps = allSteps
        return zip(steps, steps.dropFirst()).count { before, step in
            before.thread != step.thread && step.enabled >> before.thread & 1 == 1
        }
    }

    /// By which of two interleavings is shown that show the same: the smaller one.
    var size: (switches: UInt32, steps: UInt32) { (switches, step_count) }

    func accesses(of thread: Int) -> UInt32 {
        withUnsafeBytes(of: accesses) { $0.bindMemory(to: UInt32.self)[thread] }
    }
}

extension rl_race {
    /// Both places, in an order that does not depend on who came first.
    var inOrder: (Access, Access) {
        let first = Access(pc: UInt(first_pc), modifies: first_kind == RL_MODIFY.rawValue)
        let second = Access(pc: UInt(second_pc), modifies: second_kind == RL_MODIFY.rawValue)
        return first.pc <= second.pc ? (first, second) : (second, first)
    }
}

extension Schedule {
    /// Who made these steps.
    init(_ steps: some Collection<rl_step>) {
        let early = steps.enumerated().filter(\.element.early).map(\.offset)
        self.init(steps.map { Int($0.thread) }, early: Set(early))
    }

    /// The same for the engine. What can be no thread is one of which it will not know.
    var choicesOfEngine: [UInt8] {
        let nobody = Int(RL_MAX_THREADS)
        return choices.enumerated().map { index, thread in
            UInt8((0..<nobody).contains(thread) ? thread : nobody)
                | (early.contains(index) ? UInt8(RL_EARLY) : 0)
        }
    }
}
