import CRaceLab

extension Exploration {
    /// One interleaving, step by step.
    ///
    /// `Codable` is for passing a trace between processes. For other tools, use ``json``.
    public struct Trace: Codable, Sendable {
        /// One step of an interleaving: an action of a thread. Another thread could have run before
        /// it.
        public struct Step: Codable, Sendable {
            /// The kind of action in a step.
            public enum Kind: String, Codable, CaseIterable, Sendable {
                /// Reads or modifies a property, a captured variable or a global.
                case read, modify
                /// Takes a lock exclusively or shared, or attempts to.
                case lock, tryLock, sharedLock, trySharedLock
                /// Loads, stores, or reads and modifies an atomic.
                case atomicRead, atomicWrite, exchange
                /// Appends to a ``Scenario/Log``.
                case note
                /// Waits for a condition, or wakes threads that do.
                case wait, wake
                /// Decrements a semaphore, or attempts to; increments it.
                case acquire, tryAcquire, signal
                /// Starts a thread, begins with a look at the clock or a sleep, or waits for an end.
                case start, begin, join
                /// Sends work to a queue, or begins work that was sent.
                case send, receive
                /// Stands in line for a concurrent queue, alone or to share it with others.
                case queueUp, sharedQueueUp
                /// Enters or leaves a dispatch group.
                case enter, leave
                /// Waits for work to finish, or checks whether it has; registers work to follow it.
                case await, tryAwait, notify
                /// Releases the last reference to an object that has weak or unowned references.
                case letGo
                /// A task arrives at an actor, resumes another one, or finishes.
                case arrive, resume, finish
                /// Cancels a task, or checks whether one is cancelled.
                case cancel, ask
                /// Yields to other tasks, or wakes up from a sleep.
                case yield, elapse

                init(_ step: rl_step) { self = Kind.rows[Int(step.kind)].kind }

                /// The action in words, for steps without source.
                var phrase: String { Kind.rows.first { $0.kind == self }!.phrase }

                /// Whether such a step changes nothing that another thread can observe.
                package var onlyReads: Bool {
                    rl_only_reads(UInt8(Kind.rows.firstIndex { $0.kind == self }!))
                }

                /// The engine's table. Its words are the names of the cases.
                private static let rows: [(kind: Kind, phrase: String)] = (0...UInt8.max).lazy
                    .prefix { rl_row_of_kind($0) != nil }
                    .map { rl_row_of_kind($0)!.pointee }
                    .map { (Kind(rawValue: String(cString: $0.word))!, String(cString: $0.phrase)) }
            }

            /// The result of a task's request for the next element of a stream.
            public enum Element: String, Codable, Sendable {
                /// The task receives the element, or the end of the stream.
                case received
                /// The task waits until there is an element, or the stream ends.
                case awaited

                init?(_ step: rl_step) {
                    switch Int(step.element) {
                    case RL_RECEIVES: self = .received
                    case RL_WAITS: self = .awaited
                    default: return nil
                    }
                }
            }

            /// An old value of an atomic variable.
            public struct OldValue: Hashable, Codable, Sendable {
                /// The value; of a value of 16 bytes, the first eight.
                public let value: Int
                /// Which value it is: 0 is the one that was there first, 1 the first one stored.
                public let number: Int
                /// Where the first of these is stored.
                public let missed: Site?
            }

            /// The index of the thread.
            public let thread: Int
            /// The kind of action.
            public let kind: Kind
            /// The object that it accesses: within a trace, the same number stands for the same
            /// object.
            public let object: Int
            /// The name of the instance that it accesses, if several instances of that class take
            /// part: the name of the constant to which the instance is assigned where it is
            /// created, or a letter.
            public internal(set) var owner: String?
            package internal(set) var instance: Instance?
            /// Where it happens; `nil` for a note.
            public let site: Site?
            /// The line of source, or the text of the note.
            public internal(set) var text: String
            /// Whether it is an attempt that did not succeed, such as one to take a lock or a
            /// compare-and-exchange, or a wait that timed out.
            public let failed: Bool
            /// If this is a failed attempt to take a lock right before its release: the thread that
            /// holds the lock, which makes its next step after the release. See
            /// ``Exploration/Schedule``.
            public let before: Int?
            /// The task that it resumes; `nil` if it resumes none.
            public let resumes: Int?
            /// The class of the actor at which a task arrives.
            public internal(set) var actor: String?
            /// The task that holds that actor while this one waits for it.
            public let holder: Int?
            /// Whether a task that requests the next element of a stream receives it or waits;
            /// `nil` for other steps.
            public let element: Element?
            /// Whether a wait times out although other threads could continue.
            public let timedOut: Bool
            /// Whether a condition wakes the thread without a signal.
            public let spurious: Bool
            /// The value that it reads, if that is an old one of an atomic variable.
            public let old: OldValue?
            /// If it could read another value of an atomic variable: which one it reads, counted as
            /// in ``OldValue/number``.
            package let reads: Int?
            /// Which value of an atomic variable it stores, if those are kept.
            package let stores: Int?
            /// The number of locks that this thread still holds when it reaches its next step.
            public let locksHeld: Int
            /// The state after the step, one text for each of ``Exploration/Trace/columns``, or
            /// `(locked)` for a column that cannot be read because a thread holds a lock. `nil` if
            /// no column can be read.
            public let states: [String]?
            /// What a schedule says about the step, beside its thread.
            package var markInSchedule: Schedule.Mark? {
                if timedOut { return .timedOut }
                if spurious { return .spurious }
                return before == nil ? old.map { .old($0.number) } : .early
            }

            /// What goes wrong in this step; `nil` if nothing does.
            public internal(set) var mark: String?
            /// For each thread, how many of its steps precede this one in every interleaving that
            /// differs only in the order of independent steps, with this one; empty if unknown.
            package internal(set) var preceding: [Int] = []
        }

        /// The names of the threads.
        public let threads: [String]
        /// The titles of the scenario's state columns.
        public let columns: [String]
        /// For each column, the name of the instance that it shows, if it shows exactly one named
        /// instance.
        public internal(set) var columnOwners: [String?] = []
        package internal(set) var columnInstances: [Set<Instance>] = []
        package internal(set) var madeInSetUp: Set<Instance> = []
        /// The named instances, by their class.
        public internal(set) var owners: [Owners] = []
        /// Replaces a state that cannot be read because a thread holds a lock.
        static let locked = "(locked)"
        /// The state before the first step.
        public let initial: [String]
        /// The steps of all threads, in the order of execution.
        public internal(set) var steps: [Step]
        /// The findings in this interleaving, the most informative first.
        public let findings: [Finding]
        /// What the threads wait for at the end; empty if every thread has ended.
        public internal(set) var waiting: [Waiting]

        /// The schedule that reproduces the interleaving.
        public var schedule: Schedule {
            Schedule(steps.map(\.thread)) { steps[$0].markInSchedule }
        }

        /// The text with which ``Exploration/replay(_:)-(String)`` reproduces the interleaving.
        public var scheduleText: String { schedule.text(threads: threads) }

        mutating func add(notes: [Int: String]) {
            for index in steps.indices where steps[index].kind == .note {
                steps[index].text = notes[index] ?? ""
            }
        }

        mutating func mark(step: Int, _ text: String) {
            guard steps.indices.contains(step), steps[step].mark == nil else { return }
            steps[step].mark = text
        }
    }
}

extension Exploration.Trace.Step {
    /// Creates the steps of a trace, with their places in the source. `states` returns the state
    /// after the step with a given number.
    static func all(
        of steps: some Collection<rl_step>, states: (Int) -> [String]?
    ) -> [Exploration.Trace.Step] {
        let sites = Symbols.sites(of: steps)
        let missed = Symbols.sites(
            of: Set(steps.lazy.map { UInt($0.missed_pc) }.filter { $0 != 0 }))
        return zip(steps, objects(of: steps)).enumerated().map { index, pair in
            let (step, object) = pair
            let site = sites[UInt(step.pc)]
            return Exploration.Trace.Step(
                thread: Int(step.thread), kind: Kind(step), object: object, site: site,
                text: site.flatMap { SourceText.line($0.line, of: $0.path) } ?? "",
                failed: step.failed, before: step.before < 0 ? nil : Int(step.before),
                resumes: step.resumes < 0 ? nil : Int(step.resumes),
                holder: step.holder < 0 ? nil : Int(step.holder),
                element: Element(step),
                timedOut: Int32(step.unprompted) == RL_TIME_OUT,
                spurious: Int32(step.unprompted) == RL_SPURIOUS,
                old: !step.is_old
                    ? nil
                    : OldValue(
                        value: Int(bitPattern: UInt(step.old_value)), number: Int(step.reads) - 1,
                        missed: missed[UInt(step.missed_pc)]),
                reads: step.reads == 0 || step.stores != 0 ? nil : Int(step.reads) - 1,
                stores: step.stores == 0 ? nil : Int(step.stores) - 1,
                locksHeld: Int(step.locks_held), states: states(index))
        }
    }

    /// For each step, a number for the object that it accesses.
    private static func objects(of steps: some Sequence<rl_step>) -> [Int] {
        var known: [UInt: Int] = [:]
        return steps.map { step in
            let address = UInt(step.address)
            let object = known[address] ?? known.count
            known[address] = object
            return object
        }
    }
}
