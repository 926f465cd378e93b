extension Exploration {
    /// How a scenario is explored, and what counts as a failure.
    public struct Options: Sendable {
        /// The kinds of finding that make an interleaving a failure. Others are
        /// ``Exploration/otherFindings``.
        public var failingKinds: Set<Finding.Kind> = Set(Finding.Kind.allCases)
        /// Explores only interleavings with up to this many preemptions, that is, switches away
        /// from a thread that could have gone on. `nil`: any number.
        public var preemptionBound: Int?
        /// Stops after this many interleavings; less than 1 counts as 1.
        public var maximumInterleavings = 100_000
        /// Stops after this many runs, those included that repeat an interleaving: see
        /// ``Exploration/redundant``. `nil`: any number.
        public var maximumRuns: Int?
        /// Begins no further run when so much time has passed. `nil`: takes as long as it takes.
        public var maximumTime: Duration?
        /// Stops after the first interleaving that fails.
        public var stopsAtFirstFailure = false
        /// Receives, once a second, how far the exploration has come. Called on a thread of the lab
        /// between two interleavings, or, with ``Isolation/childProcess(timeLimit:memoryLimit:)``,
        /// on the thread that called `explore`.
        public var progress: (@Sendable (Exploration.Progress) -> Void)?
        /// Gives up on an interleaving of more steps than this; less than 1 counts as 1. A loop
        /// that tries something until it succeeds does not go on and on, since nothing changes
        /// meanwhile; one that also counts how often does, while the thread for which it waits is
        /// not let go on.
        public var maximumSteps = 2_000
        /// Lets a wait with a time-out end without what it waited for at any moment. Otherwise time
        /// is up only when no thread can go on.
        public var timeOutsFireAtAnyTime = false
        /// Lets a signal wake any thread that waits for it. Otherwise it wakes the one that has
        /// waited longest. A replay needs the same option.
        public var signalsWakeAnyWaiter = false
        /// Lets a condition wake a thread without a signal, while another thread can go on. POSIX
        /// allows that, so code has to check what it waits for again.
        public var spuriousWakeups = false
        /// Leaves out interleavings that differ from one explored before only in the order of steps
        /// that do not depend on one another (optimal dynamic partial-order reduction; Abdulla,
        /// Aronis, Jonsson and Sagonas 2017). Two steps depend on one another if they touch the
        /// same thing and one of them may change it. They also do through the reference count of an
        /// object that could end while the threads run, if a weak or unowned reference is read, if
        /// `isKnownUniquelyReferenced` asks, or if a `deinit` makes steps. Findings and outcomes
        /// stay the same; the counts become smaller. `false`: explores every order. Not used
        /// together with `preemptionBound`, where it would leave out too much.
        ///
        /// Retains and releases are seen on Linux for x86-64 only. Elsewhere all steps depend on
        /// one another once a weak reference is read, and steps of a `deinit` do not count as a
        /// reason: use `false` where it matters which thread runs a `deinit`.
        public var reduction = true
        /// Marks, in a replay that fails, the step from which every interleaving fails. To find it,
        /// other interleavings that begin like this one are run as well.
        public var marksPointOfNoReturn = true
        /// Where the scenario runs. In a child process a crash ends the child only, and is a
        /// finding like others: ``Exploration/Finding/Kind/crash``.
        public var isolation = Isolation.none
        /// Breaks the lab itself: RL_FAULT_… of CRaceLab. For the lab's own tests.
        package var faults: UInt32 = 0

        /// Creates the default options: everything is explored, and every finding is a failure.
        public init() {}

        /// ``maximumSteps`` as the engine takes it.
        var stepsAllowed: UInt32 { UInt32(clamping: max(1, maximumSteps)) }
    }
}

extension Exploration {
    /// How far an exploration has come.
    public struct Progress: Sendable {
        /// How many interleavings have been explored.
        public let explored: Int
        /// How many runs have repeated one of them.
        public let redundant: Int
        /// How long it has taken until now.
        public let elapsed: Duration
    }
}
