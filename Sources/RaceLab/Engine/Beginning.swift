import CRaceLab

/// What came of a schedule that need not be complete: see ``replay(beginning:options:_:)``.
public struct Carried: Sendable {
    /// The whole interleaving.
    public let trace: Trace
    /// Where the beginning did not fit the scenario. It was followed up to there.
    public let misfit: Misfit?
}

/// Runs a scenario under the interleaving that begins as a schedule says, and says what happened.
///
/// Where the schedule ends, the threads go on to their ends, the one that was added first as long as
/// it can: a schedule written by hand need not count the steps that decide nothing. Where it
/// does not fit it is followed as far as it does. The scenario is run once for each step that had
/// to be found out.
///
/// - Throws: ``Schedule/Malformed`` if the text is no schedule; ``Obstacle`` if the lab cannot work.
public func replay(
    beginning schedule: String, options: Options = Options(),
    _ describe: @escaping (Scenario) -> Void
) throws -> Carried {
    let threads = try Explorer(options, describe).threadNames()
    return try replay(
        beginning: Schedule(schedule, threads: threads), options: options, describe)
}

/// The same for a schedule that has been read already; it may be empty.
public func replay(
    beginning schedule: Schedule, options: Options = Options(),
    _ describe: @escaping (Scenario) -> Void
) throws -> Carried {
    var choices = schedule.choices
    var marks = schedule
    var given = choices.count
    var unfit: Misfit?
    if choices.isEmpty { choices = [0] }
    while true {
        do {
            let trace = try replay(
                Schedule(
                    choices, early: marks.early, timedOut: marks.timedOut, spurious: marks.spurious),
                options: options, describe)
            return Carried(trace: trace, misfit: unfit)
        } catch let misfit as Misfit {
            let isTooShort = misfit.step > choices.count
            if isTooShort {
                choices.append(0)
            } else if misfit.step <= given {
                unfit = misfit
                given = misfit.step - 1
                choices = given == 0 ? [0] : Array(choices.prefix(given))
                marks = marks.prefix(given)
            } else if choices[choices.count - 1] < Int(RL_MAX_THREADS) {
                // This thread cannot go on; perhaps the next one can.
                choices[choices.count - 1] += 1
            } else {
                throw misfit
            }
        }
    }
}
