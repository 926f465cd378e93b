import CRaceLab

extension Exploration {
    /// The reason why an exploration has no verdict.
    public enum Inconclusive: Error, Codable, Sendable, Hashable, CustomStringConvertible {
        /// The lab cannot work in this build, the system allows no child process, or a child
        /// process ended without a crash of the code under test.
        case unavailable(String)
        /// The scenario has no threads.
        case noThreads
        /// The description of the scenario has a mistake, such as two threads with the same name;
        /// the associated value is a sentence. No thread has run, unless the mistake is a thread
        /// that adds another thread.
        case malformedScenario(String)
        /// In no interleaving does this thread access anything that the lab sees, so there is
        /// nothing to explore, and a verdict would mean nothing.
        case sawNothing(thread: String)
        /// An interleaving had more steps than ``Exploration/Options/maximumSteps`` allows: how it
        /// began, and the place of its last step.
        case tooLong(steps: Int, schedule: String, place: String)
        /// A thread blocks in a function that the lab does not control.
        case blocked(thread: String, place: String)
        /// A thread runs for a long time without accessing anything that the lab sees.
        case runsOn(thread: String, place: String)
        /// More threads were started than the lab has room for.
        case tooManyThreads(thread: String)
        /// The code under test does something that the lab does not control, such as starting a
        /// timer: what it does, and where.
        case uncontrolled(what: String, place: String)
        /// The code under test uses one of ``Exploration/families()`` that the lab does not observe
        /// with this toolchain: which, and where.
        case notObserved(family: String, place: String)
        /// A child process exceeded its time limit in this interleaving, and was killed.
        case tookTooLong(limit: Duration, schedule: String)
        /// Replaying a schedule produced a different execution.
        case notDeterministic
        /// Replaying a schedule produced a different execution, probably because of this place in
        /// the source.
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
                    + "in a target compiled with -sanitize=thread?"
            case .tooLong(let steps, let schedule, let place):
                return "an interleaving went on for more than \(numberOf(steps: steps)), beginning "
                    + "\(schedule), the last one at \(place): look for a loop there that does not end "
                    + "or counts its rounds, or allow more with maximumSteps"
            case .blocked(let thread, let place):
                return "the thread '\(thread)' blocks \(place), in something that the lab does not "
                    + "control: use something there that the lab sees (see WhatTheLabSees.md; a Mutex "
                    + "only in a target compiled with -sanitize=thread), or keep it out"
            case .runsOn(let thread, let place):
                return
                    "the thread '\(thread)' runs for a long time \(place) without accessing "
                    + "anything that the lab sees: look for a loop that does not end, or that waits "
                    + "for something unseen"
            case .tooManyThreads(let thread):
                return "the thread '\(thread)' starts one thread too many: the lab has room for "
                    + "\(RL_MAX_THREADS), each queue, task and delay of work included, even if it has "
                    + "ended"
            case .uncontrolled(let what, let place):
                return "\(place) \(what): the lab does not control that (see WhatTheLabSees.md)"
            case .notObserved(let family, ""):
                return
                    "this toolchain does \(family) in a way that the lab does not observe, and it "
                    + "cannot be told whether the code under test depends on that: promise-lab doctor, "
                    + "or Exploration.families(), says more"
            case .notObserved(let family, let place):
                return "\(place) depends on \(family), which this toolchain does in a way that the "
                    + "lab does not observe: promise-lab doctor, or Exploration.families(), says more"
            case .tookTooLong(let limit, let schedule):
                let place = schedule.isEmpty ? "" : ", in the interleaving that begins \(schedule)"
                return
                    "the exploration did not finish within \(limit)\(place): explore less, "
                    + "or allow more with timeLimit"
            case .notDeterministicBecauseOf(let place, let text, let reason):
                return "replaying the schedule produced a different execution; a likely cause is "
                    + "\(place), `\(text)`: \(reason)"
            case .notDeterministic:
                return
                    "replaying the schedule produced a different execution: the scenario depends on "
                    + "something other than its threads, such as time, random numbers, or state that "
                    + "an earlier run left behind"
            }
        }
    }
}
