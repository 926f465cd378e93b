import CRaceLab

extension Program {
    /// Replays a schedule that may be incomplete, and completes it: see
    /// ``Exploration/replay(prefix:)``.
    func replay(
        prefix schedule: Exploration.Schedule
    ) throws(Exploration.ReplayError) -> Exploration.CompletedReplay {
        var choices = schedule.choices
        var marks = schedule.marks
        var given = choices.count
        var reported: Exploration.ScheduleMismatch?
        if choices.isEmpty { choices = [0] }
        // What is learned once holds for all attempts.
        var learning = true
        while true {
            defer { learning = false }
            let mismatch: Exploration.ScheduleMismatch
            do throws(Exploration.ReplayError) {
                let trace = try replay(
                    Exploration.Schedule(choices, marks: marks), learning: learning)
                return Exploration.CompletedReplay(trace: trace, mismatch: reported)
            } catch {
                guard case .mismatch(let found) = error else { throw error }
                mismatch = found
            }
            let isTooShort = mismatch.step > choices.count
            if isTooShort {
                choices.append(0)
            } else if mismatch.step <= given {
                reported = mismatch
                given = mismatch.step - 1
                choices = given == 0 ? [0] : Array(choices.prefix(given))
                marks = schedule.prefix(given).marks
            } else if choices[choices.count - 1] < Int(RL_MAX_THREADS) {
                // This thread cannot continue: try the next one.
                choices[choices.count - 1] += 1
            } else {
                throw .mismatch(mismatch)
            }
        }
    }
}
