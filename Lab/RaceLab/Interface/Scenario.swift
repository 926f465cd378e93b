import CRaceLab
import Synchronization

/// A small program that the lab runs under every interleaving: its set-up, its threads, and the
/// conditions that must hold at the end.
///
/// The lab calls the closure that describes a scenario at the beginning of each run, so each
/// interleaving gets new objects:
///
/// ```swift
/// let exploration = explore { scenario in
///     let counter = Counter()
///     scenario.thread("first") { counter.increment() }
///     scenario.thread("second") { counter.increment() }
///     scenario.check { try Scenario.require(counter.value == 2, "an increment was lost") }
/// }
/// ```
///
/// The closures need not be `Sendable`: the lab exists for code that the compiler would not let two
/// threads share.
///
/// ## What the lab sees
///
/// While a thread of the scenario runs code of the program itself (not code in the libraries of the
/// toolchain), the lab sees:
///
/// - every access to a property of a class, also through a key path, to a captured variable or to a
///   global;
/// - `Mutex`, operations on `Atomic`, and accesses to a variable on the stack of another thread, in
///   targets compiled with `-sanitize=thread` in debug;
/// - `NSLock`, `NSRecursiveLock`, `NSCondition`, `NSConditionLock`, `pthread_mutex_t`,
///   `pthread_rwlock_t` and `pthread_cond_t`. A signal wakes the thread that has waited longest,
///   and is lost if none waits. ``Exploration/Options/signalsWakeAnyWaiter`` and
///   ``Exploration/Options/spuriousWakeups`` explore the other cases. An attempt (`try()`,
///   `withLockIfAvailable`) fails while another thread holds the lock. A release is not a step of
///   its own, so an attempt is also explored right before the release: see
///   ``Exploration/Schedule``. Foundation for Linux traps, with or without the lab, when an
///   `NSConditionLock` has to wait without a date;
/// - `DispatchSemaphore`, and a POSIX semaphore (`sem_t`) of one process that has no name. During a
///   run the lab keeps the count. After the threads have ended, the real semaphore gets that count;
/// - `DispatchQueue.sync`: the queue is a lock around the work, which runs on the calling thread. A
///   concurrent queue is a readers-writer lock, `.barrier` marks the writer, and a thread waits for
///   a writer that came before it. Waiting for a queue from its own work is a deadlock;
/// - `DispatchQueue.async`: the lab starts threads that do the work: one for a serial queue, as
///   many as needed for a concurrent one. The third thread of an interleaving is then called
///   `queue thread 3`. Meanwhile, other threads that want the queue wait. Work
///   is done in the order in which it was sent, and `sync` comes after the work that was sent
///   before it, as far as a serial queue or a barrier requires that. If nothing orders two pieces
///   of work (a lock or an atomic, for example), both orders are explored. Work that is sent during
///   the set-up is done before the threads begin, by the thread that sets up. Work that a check
///   sends is done after the checks, or when a check waits for it;
/// - the main queue: its work runs on one thread that represents the main thread, even if another
///   thread waits for it with `sync`. On that thread alone, `Thread.isMainThread`,
///   `dispatchPrecondition`, `MainActor.assumeIsolated` and the checks that the compiler adds in
///   Swift 6 mode hold;
/// - `DispatchQueue.asyncAfter`: time is not part of the model, so the work arrives at its queue at
///   any later time, even if it is sent during the set-up; with `.distantFuture` it never arrives;
/// - `DispatchGroup`, and `DispatchWorkItem` with its `wait`, `notify`, `cancel` and flag
///   `.barrier`. The thread that leaves a group last sends the work that `notify` registered to its
///   queue. If one thread performs an item directly and another cancels it, there is no verdict;
/// - `DispatchQueue.concurrentPerform`: each iteration runs on a thread of its own, so that any two
///   may run at the same time and nothing orders them;
/// - `Thread` and `pthread_create`, `pthread_join`: a thread that is started becomes one more
///   thread of the interleaving, called `started thread 3` if it is the third;
/// - work sent to a ``queue(_:workers:)`` of the scenario;
/// - on Linux, tasks of Swift concurrency: see below.
///
/// ## Tasks and actors
///
/// A task is one more thread of the interleaving, whichever thread of the operating system runs it.
/// ``task(_:_:)`` adds a task. A task that is started while the threads run is called `task 3` if
/// it is the third. The Swift runtime itself runs `Task`, `Task.detached`, `Task.immediate`,
/// `async let`, task groups, actors, the main actor, `Task.yield`, continuations, streams,
/// cancellation and task-locals. A switch can happen before a task arrives at an actor, is resumed,
/// ends, is cancelled, or checks whether it is cancelled; before a cancellation handler is
/// registered or removed; before an element is sent to a stream or taken from it; and before a task
/// continues that has yielded. A task that is never resumed is a deadlock, even if code outside of
/// the scenario would resume it later. A task that yields until something changes continues when
/// another thread has changed what it reads.
///
/// An actor or a task can have an executor of the program's own, which passes jobs to a queue or a
/// thread. The lab explores its `enqueue` as it explores other code. The steps of a task stay in
/// the task's column, whichever thread calls `runSynchronously`.
///
/// Tasks that sleep wake up in the order of their deadlines, each at any moment.
///
/// These make an exploration inconclusive, with their place where it is known: a task that is
/// started while a scenario is set up or checked, an executor that runs a task before the task's
/// own call of `enqueue` has returned, a sleep with a tolerance, a task with a priority that
/// begins on another actor, an isolated `deinit`, and a task that sleeps repeatedly until
/// something changes. Tasks of different priorities arrive at an actor in any order, and the
/// runtime orders them. One order is not explored: a job that overtakes another job which the same
/// task has sent before it. A checked continuation that is resumed twice ends the process: see
/// ``Exploration/Options/isolation``.
///
/// ## Misuse
///
/// These are findings of the kind ``Exploration/Finding/Kind/misuse``: a thread that releases a
/// `pthread_mutex_t`, `pthread_rwlock_t` or Foundation lock without holding it, a wait for a
/// condition without its lock, a `DispatchSemaphore` that is freed with a lower count than it was
/// made with, an unsafe continuation that is resumed twice, and memory that is freed twice, as when
/// two threads replace the same reference at once and both release the old object.
///
/// ## Memory orderings and time
///
/// Memory orderings decide what is a data race, as in C++20: a relaxed load acquires nothing, a
/// relaxed store releases nothing, a read-modify-write continues a release sequence, a
/// compare-and-exchange that fails has its failure ordering, and fences count. They also decide
/// what an atomic load may read: an old value, where nothing orders the newer store before the
/// load. See ``Exploration/Options/memory-swift.property``, and <doc:WhatTheLabSees> for what is
/// not explored.
///
/// A wait with a time-out (`lock(before:)`, `wait(until:)`, `wait(timeout:)`) times out only when
/// no other thread can continue, so that every run is reproducible;
/// ``Exploration/Options/timeOutsFireAtAnyTime`` explores the other cases. Work that was sent with
/// a delay comes before a time-out. A time-out of `.now()` is an attempt, and does not wait.
///
/// On Linux, the clocks stand still for the code under test. Time passes when a task or a thread
/// sleeps, when every thread waits, and when a thread does nothing but ask for the time, so a loop
/// that waits for a moment ends.
///
/// Random numbers are the same in every run: see ``Exploration/Options/randomSeed``. An exploration
/// in which some are drawn does not survive.
///
/// Sets and dictionaries have the same order in every run and in every process that links the lab,
/// as with `SWIFT_DETERMINISTIC_HASHING`. Code that depends on addresses, such as a hash of an
/// `ObjectIdentifier`, is not deterministic. Then there is no verdict, and a likely cause is named.
///
/// ## What it does not see
///
/// - single elements of arrays and dictionaries: an access to an element counts as an access to the
///   property that holds the array;
/// - in targets that are not compiled with `-sanitize=thread`, accesses through unsafe pointers,
///   and to properties with `@exclusivity(unchecked)`;
/// - structures and local variables that no closure captures: no other thread can reach them;
/// - in targets that are not compiled with `-sanitize=thread`, variables that only closures which
///   do not escape capture, and what a function with an `inout` parameter, or a `mutating` method,
///   still changes after it has let other threads go on;
/// - what initializers of globals, `pthread_once` and blocks that a run loop performs do;
/// - tasks and actors of Swift concurrency where they cannot be explored, `OperationQueue`,
///   `Timer`, `DispatchSource`, `DispatchIO`, queues that are suspended or inactive, queues with a
///   target queue that is not global, POSIX semaphores that have a name or that processes share,
///   POSIX spin locks and barriers, `pthread` locks that prefer writers, `min` and `max` of an
///   `Atomic`, a recursive lock that a task keeps while it is suspended, or a block at the end of
///   its work on a queue, and threads that are started while a scenario is set up or checked. If
///   the code under test uses them, there is no verdict:
///   ``Exploration/Inconclusive/uncontrolled(what:place:)``;
/// - a lock that was taken during the set-up and not released there. To make a thread wait from the
///   beginning, use a semaphore;
/// - a part of some accesses through key paths, because the standard library makes them: everything
///   after a computed property or a subscript in the path, and the whole access with an
///   `AnyKeyPath`. Properties that are `weak`, `unowned` or `lazy`, have a wrapper, or can be
///   overridden count as computed. In `\.model.count`, `count` is not seen if the class that has
///   `model` is not `final` and the class that has `count` is;
/// - anything the other threads of the process do. A thread of the scenario that waits for them, or
///   for anything else that is not listed above, is reported as blocked, with its place. There is
///   also no verdict if no thread can continue, and one of them waits for a semaphore, a condition
///   or a group that was made outside of the scenario, or for a change of a global: code outside
///   could signal it, or make that change.
public final class Scenario {
    struct NamedThread {
        let name: String
        /// Whether it is a worker of a ``queue(_:workers:)``.
        var isWorker = false
        let body: () throws -> Void
        /// The body of a task, see ``task(_:_:)``; `nil` for a thread.
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
    /// The first mistake in the description of the scenario; `nil` if there is none.
    private(set) var mistake: String?
    /// Whether the description is complete; from then on, adding a thread is a mistake.
    private var isDescribed = false

    init() {}

    func endDescription() { isDescribed = true }
    func isMistaken(_ words: String) { mistake = mistake ?? words }

    /// Releases the objects that the closures hold, after a run. Freeing one, such as a semaphore,
    /// may be a misuse.
    func letGo() {
        threads = threads.map { NamedThread(name: $0.name, isWorker: $0.isWorker, body: {}) }
        checks = []
        columns = columns.map { Column(title: $0.title, read: { "" }) }
        readOutcome = nil
    }

    /// Adds a thread. `body` runs once in each interleaving, on a thread of the lab, concurrently
    /// with the other bodies. An error that it throws counts as a failure.
    ///
    /// There can be up to 32 threads, including the workers of queues and threads that are started
    /// later. Each needs a name of its own. A body or a check must not add threads. Otherwise there
    /// is no verdict: ``Exploration/Inconclusive/malformedScenario(_:)``.
    ///
    /// A closure that is written in a function of a global actor is isolated to that actor, unless
    /// it is `@Sendable`. The threads of a scenario run on no actor, so an isolated closure makes
    /// the exploration inconclusive, too.
    public func thread(_ name: String, _ body: @escaping @isolated(any) () throws -> Void) {
        if let actor = body.isolation {
            isMistaken(
                "the thread '\(name)' is isolated to \(actor), because it is described there: "
                    + "explore from a nonisolated function, or begin it with { @Sendable in")
        }
        // The closure is not isolated, so it can be called like any other closure.
        add(NamedThread(name: name, body: unsafeBitCast(body, to: (() throws -> Void).self)))
    }

    func add(_ thread: NamedThread) {
        // If a body calls this, by mistake, the access to `threads` must not become a step.
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

    /// Adds a queue, to which the code under test can send work. Threads of the scenario do the
    /// work: one worker, called `name`, in the order in which it was sent; or several, called
    /// `name 1`, `name 2` and so on, which begin it in that order. The workers wait until there is
    /// work, and end when all other threads have ended and no work is left. There must be at least
    /// one worker.
    ///
    /// Use it for code that receives a dispatcher or a queue of its own type: pass one that sends
    /// its work to this queue.
    ///
    /// ```swift
    /// struct QueueDispatcher: Dispatcher {
    ///     let queue: Scenario.Queue
    ///     func dispatch(_ work: @escaping @Sendable () -> Void) { queue.async(work) }
    /// }
    /// ```
    public func queue(_ name: String, workers: Int = 1) -> Scenario.Queue {
        // If a body calls this, by mistake, nothing of it must become a step.
        rl_ignore()
        defer { rl_attend() }
        let queue = Scenario.Queue()
        if workers < 1 { isMistaken("the queue '\(name)' has no workers: it needs one") }
        // One worker too many is reported as a mistake; adding more of them would change nothing.
        for worker in 1..<(1 + min(max(0, workers), Int(RL_MAX_THREADS) + 1)) {
            let name = workers == 1 ? name : "\(name) \(worker)"
            add(NamedThread(name: name, isWorker: true, body: queue.work))
        }
        return queue
    }

    /// Adds a condition for the end of each interleaving. `check` runs after all threads have
    /// ended, and throws if something is wrong; see ``require(_:_:)``. It runs on a thread of the
    /// lab, where `#expect` and `XCTAssert` would not find their test.
    public func check(_ check: @escaping () throws -> Void) {
        checks.append(check)
    }

    /// Adds a column to the tables that show interleavings. `read` is called between steps, only
    /// when a table is made, on a thread of the lab. If it needs a lock that a thread of the
    /// scenario holds, the lab abandons the call, and the table shows `(locked)`.
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
    /// The error that a check throws: a sentence that says what is wrong. Failures with the same
    /// sentence are counted together, so leave out details that differ between interleavings.
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
    /// A list to which the threads of a scenario append events: which handler was called, with what
    /// value, in which order.
    ///
    /// Appending is a step of its own, which other threads may precede or follow. It is not an
    /// access by the code under test, so it is never part of a data race, and orders nothing. A log
    /// can also be used outside of the lab, from any thread.
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

/// The texts of the notes in the run that is being recorded.
enum Notes {
    private static let texts = Mutex<[Int: String]?>(nil)
    /// Receives each note immediately, because the process may crash before the run ends: see
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
