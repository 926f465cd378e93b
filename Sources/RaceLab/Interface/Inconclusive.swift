import CRaceLab

extension Exploration {
    /// Why an exploration says nothing about its scenario, or not everything.
    public enum Inconclusive: Error, Codable, Sendable, Hashable, CustomStringConvertible {
        /// The lab cannot work in this build.
        case unavailable(String)
        /// The scenario has no threads.
        case noThreads
        /// The scenario is described in a way that makes no sense, such as with two threads of one
        /// name; said in a sentence. None of its threads has run, unless it is one of them that
        /// adds another thread.
        case malformedScenario(String)
        /// In no interleaving does this thread touch anything that the lab can see, so that there
        /// is nothing to explore and a verdict would be worth nothing.
        case sawNothing(thread: String)
        /// An interleaving went on for more steps than allowed.
        case tooLong(steps: Int, schedule: String)
        /// A thread sleeps in something that the lab does not control.
        case blocked(thread: String, place: String)
        /// A thread runs on and on without touching anything that the lab can see.
        case runsOn(thread: String, place: String)
        /// More threads were started than the lab has room for.
        case tooManyThreads(thread: String)
        /// The code under test does something that the lab does not control, such as starting a
        /// task: what, and where.
        case uncontrolled(what: String, place: String)
        /// A child process did not come to its end in time, and was ended in this interleaving.
        case tookTooLong(limit: Duration, schedule: String)
        /// The same choices led elsewhere than before.
        case notDeterministic
        /// The same choices led elsewhere than before, likely because of this place in the source.
        case notDeterministicBecauseOf(place: String, text: String, reason: String)

        public var description: String {
            switch self {
            case .unavailable(let why):
                return why
            case .noThreads:
                return "the scenario has no threads: add two or three with scenario.thread(…)"
            case .malformedScenario(let what):
                return what
            case .sawNothing(let thread):
                return
                    "the thread '\(thread)' touches nothing that the lab can see: is its code part "
                    + "of this debug build, and does it use properties, captured variables, or a Mutex "
                    + "in a target compiled with -sanitize=thread? "
                    + "Timers and OperationQueue are not seen"
            case .tooLong(let steps, let schedule):
                return "an interleaving went on for more than \(numberOf(steps: steps)), beginning "
                    + "\(schedule): look for a loop that does not end, or allow more with maximumSteps"
            case .blocked(let thread, let place):
                return "the thread '\(thread)' blocks \(place), in something that the lab does not "
                    + "control: use something there that the lab sees (see Scenario; a Mutex only in a "
                    + "target compiled with -sanitize=thread), or keep it out"
            case .runsOn(let thread, let place):
                return
                    "the thread '\(thread)' runs on and on \(place) without touching anything that "
                    + "the lab can see: look for a loop that does not end"
            case .tooManyThreads(let thread):
                return "the thread '\(thread)' starts one thread too many: the lab has room for "
                    + "\(RL_MAX_THREADS), those of the scenario and its queues included"
            case .uncontrolled(let what, let place):
                return "\(place) \(what): the lab does not control that (see Scenario)"
            case .tookTooLong(let limit, let schedule):
                let place = schedule.isEmpty ? "" : ", in the interleaving that begins \(schedule)"
                return
                    "the exploration did not come to its end within \(limit)\(place): explore less, "
                    + "or allow more with timeLimit"
            case .notDeterministicBecauseOf(let place, let text, let reason):
                return "the same schedule led elsewhere than before; a likely cause is \(place), "
                    + "`\(text)`: \(reason)"
            case .notDeterministic:
                return
                    "the same schedule led elsewhere than before: the scenario depends on something "
                    + "other than its threads, such as time, chance, or what an earlier run left behind"
            }
        }
    }
}
