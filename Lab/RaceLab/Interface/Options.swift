import CRaceLab

extension Exploration {
    /// How a scenario is explored, and what counts as a failure.
    public struct Options: Sendable {
        /// The kinds of finding that make an interleaving a failure. Others are
        /// ``Exploration/otherFindings``.
        public var failingKinds: Set<Finding.Kind> = Set(Finding.Kind.allCases)
        /// Whether every interleaving is explored, or only some that are drawn at random.
        public var strategy = Strategy.exhaustive
        /// Explores only interleavings with up to this many preemptions, that is, switches away
        /// from a thread that could have continued. `nil`: any number.
        public var preemptionBound: Int?
        /// Stops after this many interleavings; less than 1 counts as 1. Does not limit
        /// ``Strategy``, which has its own number.
        public var maximumInterleavings = 100_000
        /// Stops after this many runs, including those that repeat an interleaving: see
        /// ``Exploration/redundant``. `nil`: any number.
        public var maximumRuns: Int?
        /// Begins no further run after this time, counted from the beginning, even if the lab has
        /// started the exploration over meanwhile. `nil`: no limit.
        public var maximumTime: Duration?
        /// Stops after the first interleaving that fails.
        public var stopsAtFirstFailure = false
        /// Receives the progress of the exploration once a second. Called on a thread of the lab
        /// between two interleavings, or, with ``Isolation/childProcess(timeLimit:memoryLimit:)``,
        /// on the thread that called `explore`.
        public var progress: (@Sendable (Exploration.Progress) -> Void)?
        /// Gives up on an interleaving with more steps than this; less than 1 counts as 1. A loop
        /// that only retries until it succeeds does not reach this limit: the lab recognizes it,
        /// because nothing changes meanwhile, and runs another thread. A loop that also counts its
        /// attempts can reach it.
        public var maximumSteps = 2_000
        /// Lets a wait with a time-out time out at any moment, and a loop that asks for the time
        /// find that its deadline has passed. Otherwise both happen only when no thread can continue;
        /// to the loop also when it has slept for that long. Then a wait that succeeds only after
        /// others have slept for longer than its time limit has no verdict, unless something fails.
        public var timeOutsFireAtAnyTime = false
        /// Lets a signal wake any thread that waits for it. Otherwise it wakes the one that has
        /// waited longest. A replay needs the same option.
        public var signalsWakeAnyWaiter = false
        /// Lets a condition wake a thread without a signal (a spurious wakeup), while another
        /// thread can continue. POSIX allows that, so a thread must check its condition again.
        public var spuriousWakeups = false
        /// Leaves out interleavings that differ from one explored before only in the order of steps
        /// that do not depend on one another (optimal dynamic partial-order reduction; Abdulla,
        /// Aronis, Jonsson and Sagonas 2017). Two steps depend on one another if they access the
        /// same memory and one of them may change it. Retains and releases of an object that could
        /// be freed while the threads run are also dependent if a weak or unowned reference is
        /// read, if `isKnownUniquelyReferenced` is called, or if a `deinit` makes steps. Findings
        /// and outcomes stay the same, except a misuse that only follows from another one; the
        /// counts become smaller. `false`: explores every order. Not used together with
        /// `preemptionBound`, where it would leave out too much.
        ///
        /// Retains and releases are seen on Linux only. Elsewhere, all steps depend on one another
        /// once a weak reference is read, but the steps of a `deinit` create no dependency: use
        /// `false` if it matters which thread runs a `deinit`.
        public var reduction = true
        /// What loads of atomic variables can read.
        public enum Memory: String, Sendable, Codable {
            /// The values that the memory orderings allow: a load may read an old value if nothing
            /// orders the newer store before the load. The model is RC11 (Lahav, Vafeiadis, Kang,
            /// Hur and Dreyer 2017); <doc:WhatTheLabSees> names what is not explored.
            case weak
            /// The newest value, as if all orderings were sequentially consistent. The orderings
            /// still decide which accesses are data races.
            case sequentiallyConsistent
        }

        /// What loads of atomic variables can read. It makes a difference only if the code under
        /// test uses orderings weaker than sequentially consistent.
        public var memory = Memory.weak
        /// Marks, in a replay that fails, the step from which every interleaving fails. To find it,
        /// the lab also runs other interleavings that begin in the same way.
        public var marksPointOfNoReturn = true
        /// The seed of the random numbers that the code under test draws, with `Int.random(in:)` or
        /// `arc4random` for example. Every interleaving draws the same numbers: each thread has a
        /// sequence of its own. So an exploration says nothing about other numbers, and
        /// ``Exploration/survives`` is `false` if some were drawn.
        public var randomSeed: UInt64 = 1
        /// The process in which the scenario runs. In a child process, a crash ends the child only,
        /// and is reported as a finding: ``Exploration/Finding/Kind/crash``.
        public var isolation = Isolation.none
        /// A memory ordering that is used in place of the one in the source.
        package var instead: Ordering?
        /// Plants faults in the lab, RL_FAULT_… of CRaceLab, for the lab's own tests.
        package var faults: UInt32 = 0
        /// The time, for the lab's own tests.
        package var now: @Sendable () -> ContinuousClock.Instant = { .now }

        /// Creates the default options: everything is explored, and every finding is a failure.
        public init() {}

        /// ``maximumSteps`` as the engine takes it.
        var stepsAllowed: UInt32 { UInt32(clamping: max(1, maximumSteps)) }
    }
}

extension Exploration.Options {
    /// Which interleavings are run.
    public enum Strategy: Hashable, Sendable {
        /// Every one, until a bound is reached.
        case exhaustive
        /// As many as `runs`, drawn at random; less than 1 counts as 1. For a space too large to
        /// explore: what is not found may still be there, so the verdict is never "survives".
        ///
        /// The first execution is not drawn: in it, threads continue as long as they can. It shows
        /// how many steps there are. The same seed draws the same interleavings, also in a child
        /// process. Failures are counted, reduced to the fewest switches, and replayed as usual.
        /// ``reduction`` is not used, and ``preemptionBound`` is.
        case sampled(Sampling, runs: Int, seed: UInt64)
    }

    /// How interleavings are drawn.
    public enum Sampling: Hashable, Codable, Sendable, CustomStringConvertible {
        /// At each step, any thread that can continue is equally likely.
        case randomWalk
        /// The threads get random priorities, and the one with the highest runs. At `depth - 1`
        /// random steps, the running thread falls back behind all others. A bug that appears as
        /// soon as `depth` steps are in the wrong order is found in each execution with a chance of
        /// at least 1 / (n kᵈ⁻¹), where n is the number of threads, and k the number of steps
        /// (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010). A depth of less than 1
        /// counts as 1, and of more than 17 as 17.
        case pct(depth: Int)
        /// The next steps of all threads have random priorities, and the one with the highest is
        /// made. Then all steps that depend on it get new ones (partial-order sampling; Yuan, Yang
        /// and Gu, CAV 2018).
        case partialOrder
        /// For each execution, memory that threads share is drawn. Each order of the steps at the
        /// places in the code that access it is equally likely, as far as their number is known
        /// from the execution before (selectively uniform random walk; Zhao, Wolff, Mathur and
        /// Roychoudhury, ASPLOS 2025).
        case selectivelyUniform

        public var description: String {
            switch self {
            case .randomWalk: "random walk"
            case .pct(let depth): "PCT, depth \(min(max(1, depth), Int(RL_MAX_CHANGES) + 1))"
            case .partialOrder: "partial-order sampling"
            case .selectivelyUniform: "selectively uniform random walk"
            }
        }
    }

    /// Lets no more than `count` interleavings be explored.
    mutating func explore(atMost count: Int) {
        maximumInterleavings = count
        if case .sampled(let method, _, let seed) = strategy {
            strategy = .sampled(method, runs: count, seed: seed)
        }
    }
}

extension Exploration {
    /// The progress of an exploration.
    public struct Progress: Sendable {
        /// How many interleavings have been explored.
        public let explored: Int
        /// How many runs have repeated one of them.
        public let redundant: Int
        /// The time since it began.
        public let elapsed: Duration

        init(runs: UInt64, redundant: UInt64, since began: ContinuousClock.Instant) {
            explored = Int(runs)
            self.redundant = Int(redundant)
            elapsed = .now - began
        }
    }
}
