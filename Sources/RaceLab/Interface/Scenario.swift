import CRaceLab
import Synchronization

/// A small program to be run under every interleaving: what it sets up, its threads, and what has
/// to hold at the end.
///
/// The closure that describes it is called once for each interleaving, so everything it makes is
/// made afresh:
///
/// ```swift
/// let report = explore { scenario in
///     let counter = Counter()
///     scenario.thread("first") { counter.increment() }
///     scenario.thread("second") { counter.increment() }
///     scenario.check { try Scenario.require(counter.value == 2, "an increment was lost") }
/// }
/// ```
///
/// None of the closures has to be `Sendable`. Code that the compiler would not let two threads
/// share is what a lab is for.
///
/// ## What the lab sees
///
/// While a thread of the scenario runs, in code of the program itself (not in the libraries of the
/// toolchain):
///
/// - every access to a property of a class, also through a key path, to a captured variable or to
///   a global;
/// - `Mutex`, and operations on `Atomic`, in targets compiled with `-sanitize=thread` in debug;
/// - `NSLock`, `NSRecursiveLock`, `NSCondition`, `NSConditionLock`, `pthread_mutex_t`,
///   `pthread_rwlock_t` and `pthread_cond_t`. A signal that finds no waiting thread is lost; of
///   those that wait it wakes the one that has waited longest. That a condition may also wake a
///   thread for no reason is not tried out. An attempt (`try()`, `withLockIfAvailable`) fails while
///   another thread holds the lock, be it only until its release, which is no step of its own: see
///   ``Exploration/Schedule``. Foundation for Linux traps, lab or no lab, where an
///   `NSConditionLock` has to wait without a date;
/// - `DispatchSemaphore`. During a run the lab keeps its count; signals that are left over are
///   given to the real one when the threads have ended;
/// - `DispatchQueue.sync`: the queue is a lock around the work, which runs on the calling thread. A
///   concurrent queue is a lock for many readers, `.barrier` the one writer. Waiting for a queue
///   from its own work is a deadlock;
/// - `DispatchQueue.async`: the work is done by a thread that is started for the queue, one for a
///   serial queue, as many as it takes for a concurrent one. It keeps out threads that wait for the
///   queue meanwhile. Work is done in the order in which it was sent, and `sync` comes after what
///   was sent before it, as far as a serial queue or a barrier asks for that. Where nothing orders
///   them (locks, atomics and the like do), both orders are tried. What is sent while a scenario is
///   set up, to whichever queue, is done before its threads begin, by the thread that sets up. What
///   a check sends is done when the checks have ended, or when one waits for it;
/// - the main queue: its work runs on one thread that stands for the main thread, also when another
///   thread waits for it with `sync`. There `Thread.isMainThread`, `dispatchPrecondition`,
///   `MainActor.assumeIsolated` and the checks that the compiler adds in the Swift 6 mode hold, and
///   nowhere else in a scenario;
/// - `DispatchQueue.asyncAfter`: time is no part of the model, so the work comes to its queue at
///   any later time, also when it is sent while a scenario is set up, and never for
///   `.distantFuture`;
/// - `DispatchGroup`, and `DispatchWorkItem` with its `wait`, `notify`, `cancel` and flag
///   `.barrier`. What follows a group is sent to its queue by the thread that leaves the group
///   last. An item that is performed on the spot and canceled by another thread leaves no verdict;
/// - `DispatchQueue.concurrentPerform`: each iteration runs on a thread of its own, so that any two
///   may run at the same time and nothing orders them;
/// - `Thread` and `pthread_create`, `pthread_join`: a thread that is started becomes one more
///   thread of the interleaving, called `started thread 3` if it is the third;
/// - work sent to a ``queue(_:workers:)`` of the scenario;
/// - on Linux, tasks of Swift concurrency: see below.
///
/// ## Tasks and actors
///
/// A task is one more thread of the interleaving, whichever thread of the operating system runs
/// it. ``task(_:_:)`` adds one; one that is started while the threads run is called `task 3` if it
/// is the third. The runtime itself does the work, for `Task`, `Task.detached`, `Task.immediate`,
/// `async let`, task groups, actors, the main actor, `Task.yield`, continuations, streams,
/// cancellation and task-locals. A switch can happen before a task arrives at an actor, is resumed,
/// ends, is cancelled, or asks whether it is cancelled; before an element is sent to a stream or
/// taken from it; and before a task continues that has yielded. A task that is never resumed is a
/// deadlock, even if code outside of the scenario would resume it later.
///
/// Time is no part of the model. Tasks that sleep wake up in the order of their times, each at any
/// moment. `ContinuousClock.now` stands still until one of them wakes up.
///
/// These make an exploration inconclusive, with their place: a task that is started while a
/// scenario is set up or checked, an actor with an executor of its own, a preference for a task
/// executor, a sleep with a tolerance, a task with a priority that begins on another actor, and a
/// task that yields again and again until something changes, which exceeds
/// ``Exploration/Options/maximumSteps``. Tasks of different priorities arrive at an actor in any
/// order, and the runtime orders them. It is not tried out that a job overtakes another one that
/// the same task has sent before. A checked continuation that is resumed twice ends the process:
/// see ``Exploration/Options/isolation``.
///
/// A `pthread_mutex_t`, `pthread_rwlock_t` or Foundation lock that is released while no thread, or
/// another one, holds it, a condition that is waited for without its lock, and a
/// `DispatchSemaphore` that is freed with a lower count than it was made with, are findings of the
/// kind ``Exploration/Finding/Kind/misuse``.
///
/// Memory orderings count where data races are concerned, as in C++20: a relaxed load acquires
/// nothing, a relaxed store releases nothing, a read-modify-write continues a release sequence, a
/// compare-and-exchange that fails has its failure ordering, and fences count. The *values* are
/// sequentially consistent whatever the ordering: every load finds what was stored last, so an
/// outcome that needs a reordered load or store is never reached.
///
/// A wait that ends at a given time (`lock(before:)`, `wait(until:)`, `wait(timeout:)`) goes on
/// without what it waited for when no other thread can go on, and only then: time is no part of
/// the model, and runs stay the same. Work that was sent with a delay comes before. A timeout of
/// `.now()` is an attempt, and does not wait.
///
/// Sets and dictionaries have the same order in every run and in every process that links the lab,
/// as with `SWIFT_DETERMINISTIC_HASHING`. What depends on addresses (such as a hash of an
/// `ObjectIdentifier`), on time or on chance does not; then there is no verdict, and the likely
/// cause is named.
///
/// ## What it does not see
///
/// - accesses through unsafe pointers, and to the elements of arrays and dictionaries one by one:
///   an array counts as a whole, as the property in which it is;
/// - structures and local variables that no closure captures: no other thread can reach them;
/// - tasks and actors of Swift concurrency where they cannot be explored, `OperationQueue`,
///   `Timer`, `DispatchSource`, `DispatchIO`, queues with a target queue that is not global, and
///   threads that are started while a scenario is set up or checked. Where the code under test uses
///   them, there is no verdict: ``Exploration/Inconclusive/uncontrolled(what:place:)``;
/// - which thread comes first when several wait for a queue with `sync`, or that work comes after
///   them which is sent while they wait;
/// - that a lock has been taken while the scenario was set up, and not been released there. What is
///   to keep a thread waiting from the beginning is a semaphore;
/// - of an access through a key path what lies behind a computed property or a subscript in it, and
///   all of it if the key path is an `AnyKeyPath`: that access is made by the standard library. As
///   computed there count, too, properties that are `weak`, `unowned` or `lazy`, have a wrapper, or
///   can be overridden: of `\.model.count`, when the class that has `model` is not `final` and the
///   one that has `count` is, `count` is not seen;
/// - anything the other threads of the process do. A thread of the scenario that waits for them, or
///   for anything else that is not listed above, is reported as blocked, with its place. If no
///   thread can go on, and one waits for a semaphore, a condition or a group that was made outside
///   of the scenario, or for a change of a global, there is no verdict either: code outside could
///   signal it, or make that change.
public final class Scenario {
    struct NamedThread {
        let name: String
        /// Whether it only does what is sent to a queue.
        var isWorker = false
        let body: () throws -> Void
        /// Of a task, see ``task(_:_:)``.
        var task: (() async throws -> Void)?
    }

    struct Column {
        let title: String
        let read: () -> String
    }

    private(set) var threads: [NamedThread] = []
    private(set) var checks: [() throws -> Void] = []
    private(set) var columns: [Column] = []
    private(set) var readOutcome: (() -> String)?
    var expectations: [Scenario.ExpectedOutcome] = []
    /// What makes no sense in how this is described, if anything; the first such thing.
    private(set) var mistake: String?
    /// Whether its threads run, or have.
    private var isDescribed = false

    init() {}

    func endDescription() { isDescribed = true }
    func isMistaken(_ words: String) { mistake = mistake ?? words }

    /// Frees what the closures hold, when the run is over: freeing it may show a misuse.
    func letGo() {
        threads = threads.map { NamedThread(name: $0.name, isWorker: $0.isWorker, body: {}) }
        checks = []
        columns = columns.map { Column(title: $0.title, read: { "" }) }
        readOutcome = nil
    }

    /// Adds a thread. `body` runs once in each interleaving, on a thread of the lab, side by side
    /// with the other bodies. An error that it throws counts as a failure. There can be up to 32
    /// threads, the workers of queues and those that are started later included; each needs a name
    /// of its own. Whatever is not like this is an
    /// ``Exploration/Inconclusive/malformedScenario(_:)``, as are threads that are added by a body
    /// or a check: then there is no verdict.
    ///
    /// A closure that is written in a function of a global actor belongs to that actor, unless it
    /// is `@Sendable`. The threads of a scenario run on none, so then the exploration is
    /// inconclusive, too.
    public func thread(_ name: String, _ body: @escaping @isolated(any) () throws -> Void) {
        if let actor = body.isolation {
            isMistaken(
                "the thread '\(name)' is isolated to \(actor), because it is described there: "
                    + "explore from a nonisolated function, or begin it with { @Sendable in")
        }
        // It is isolated to nothing, so it can be called like any other closure.
        add(NamedThread(name: name, body: unsafeBitCast(body, to: (() throws -> Void).self)))
    }

    func add(_ thread: NamedThread) {
        // Called by a body, this would be a step of it.
        rl_ignore()
        defer { rl_attend() }
        if let words = mistake(ifAdding: thread.name) {
            isMistaken(words)
        } else {
            threads.append(thread)
        }
    }

    private func mistake(ifAdding name: String) -> String? {
        if isDescribed {
            return "the thread '\(name)' is added when the threads of the scenario have begun: add "
                + "it beside them, or start a Thread"
        }
        if threads.contains(where: { $0.name == name }) {
            return "the scenario has two threads called '\(name)': each needs a name of its own"
        }
        return threads.count < Int(RL_MAX_THREADS)
            ? nil
            : "the thread '\(name)' is one too many: the lab has room for \(RL_MAX_THREADS), the "
                + "workers of queues included"
    }

    /// Adds a queue, to which the code under test can send work. The work is done by `workers`
    /// threads of the scenario: by one, called `name`, in the order in which it was sent; or by
    /// several, called `name 1`, `name 2` and so on, which begin with it in that order. They wait
    /// until there is work, and end when all other threads have ended and there is no more. There
    /// has to be at least one.
    ///
    /// This is how code is explored that hands its work to a dispatch queue: where it takes
    /// something to dispatch with, it is given this.
    ///
    /// ```swift
    /// struct QueueDispatcher: Dispatcher {
    ///     let queue: Scenario.Queue
    ///     func dispatch(_ work: @escaping @Sendable () -> Void) { queue.async(work) }
    /// }
    /// ```
    public func queue(_ name: String, workers: Int = 1) -> Scenario.Queue {
        let queue = Scenario.Queue()
        if workers < 1 { isMistaken("the queue '\(name)' has no workers: it needs one") }
        // One more than there is room for is a mistake; more of them add nothing.
        for worker in 1..<(1 + min(max(0, workers), Int(RL_MAX_THREADS) + 1)) {
            let name = workers == 1 ? name : "\(name) \(worker)"
            add(NamedThread(name: name, isWorker: true, body: queue.work))
        }
        return queue
    }

    /// Adds a condition for the end of each interleaving. `check` runs when every thread has come
    /// to its end, and throws if something is wrong; see ``require(_:_:)``. It runs on a thread
    /// of the lab: `#expect` and `XCTAssert` would not find their test there.
    public func check(_ check: @escaping () throws -> Void) {
        checks.append(check)
    }

    /// Adds a column to the tables in which interleavings are shown. `read` is called between
    /// steps, only when a table is made, on a thread of the lab. Where it comes to a lock that a
    /// thread of the scenario holds, it is given up, and the table shows `(locked)`.
    public func state(_ title: String, _ read: @escaping () -> String) {
        columns.append(Column(title: title, read: read))
    }

    /// Names the outcome of each interleaving, to be counted in ``Exploration/outcomes``. `read` is
    /// called after the checks have passed.
    public func outcome(_ read: @escaping () -> String) {
        readOutcome = read
    }
}

extension Scenario {
    /// What a check throws: a sentence that says what is wrong, without details that differ from
    /// one interleaving to the next, since failures with the same sentence are counted together.
    public struct CheckFailure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The sentence.
        public let description: String

        /// Creates a failure with this sentence.
        public init(_ description: String) {
            self.description = description
        }
    }

    /// Throws a ``Scenario/CheckFailure`` if `condition` does not hold.
    public static func require(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
        if !condition { throw CheckFailure(otherwise()) }
    }
}

extension Scenario {
    /// A list to which the threads of a scenario append what they want to remember: who was called,
    /// with what, in which order.
    ///
    /// Appending is a step of its own, which other threads may precede or follow. It is no shared
    /// access of the code under test, so it is never part of a data race, and orders nothing. It
    /// can be used outside of the lab too, from any thread.
    public final class Log<Entry>: @unchecked Sendable {
        private var storage: [Entry] = []
        private let lock = Mutex(())

        /// Creates an empty list.
        public init() {}

        /// Appends `entry` and, if a table is being made, shows `text` in it: by default the entry.
        public func append(_ entry: Entry, _ text: @autoclosure () -> String? = nil) {
            let step = rl_note(Unmanaged.passUnretained(self).toOpaque())
            rl_ignore()
            defer { rl_attend() }
            lock.withLock { _ in storage.append(entry) }
            if step != UInt32.max {
                Notes.write(text() ?? "\(entry)", forStep: Int(step))
            }
        }

        /// Everything that was appended, in that order.
        public var entries: [Entry] {
            rl_ignore()
            defer { rl_attend() }
            return lock.withLock { _ in storage }
        }
    }
}

/// The texts of the notes of one run, while a table is being made of it.
enum Notes {
    private static let texts = Mutex<[Int: String]?>(nil)
    /// Called with each at once: a caller that waits for the end may wait in vain, see
    /// ``Isolated``.
    private static let reporter = Mutex<ChildReporter?>(nil)

    static func start(_ reporter: ChildReporter? = nil) {
        texts.withLock { $0 = [:] }
        self.reporter.withLock { $0 = reporter }
    }

    static func stop() -> [Int: String] {
        texts.withLock { texts in
            let written = texts ?? [:]
            texts = nil
            return written
        }
    }

    static func write(_ text: @autoclosure () -> String, forStep step: Int) {
        texts.withLock { texts in
            guard texts != nil else { return }
            let text = text()
            texts?[step] = text
            reporter.withLock { $0?.tell(.note(step: step, text)) }
        }
    }
}
