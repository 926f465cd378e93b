import CRaceLab
import Synchronization

/// A small program that the lab runs under every interleaving: its set-up, its threads, and the
/// conditions that must hold at the end.
///
/// The lab calls the closure that describes a scenario at the beginning of each run, so each
/// interleaving gets new objects: see ``explore(options:_:)`` for an example. The closures need not
/// be `Sendable`: the lab exists for code that the compiler would not let two threads share.
///
/// A task is one more thread, whichever thread of the operating system runs it: ``task(_:_:)`` adds
/// one. <doc:WhatTheLabSees> lists what the lab controls while a thread of the scenario runs code of
/// the program itself, what it reports, and what it does not see.
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

    func isMistaken(_ closure: String, isIsolatedTo actor: any Actor, _ argument: String = "") {
        isMistaken(
            "\(closure) is isolated to \(actor), by an attribute or because it is described there: "
                + "explore from a nonisolated function, or begin it with { @Sendable \(argument)in")
    }

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
        if let actor = body.isolation { isMistaken("the thread '\(name)'", isIsolatedTo: actor) }
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
    /// scenario holds, the lab abandons the call, and the table shows `(locked)`. If reading changes
    /// what happens, the table has no such columns.
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
    /// Whether a thread has appended to a log while it held a lock, in the run that is being checked.
    package static var hasEntryUnderALock: Bool { rl_noted_under_lock() }

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
    private struct Recording {
        var texts: [Int: String] = [:]
        /// Receives each note immediately, because the process may crash before the run ends: see
        /// ``Isolated``.
        let reporter: ChildReporter?
    }

    private static let recording = ForkSafeLock<Recording?>(nil)

    static func start(_ reporter: ChildReporter?) {
        recording.withLock { $0 = Recording(reporter: reporter) }
    }

    @discardableResult static func stop() -> [Int: String] {
        recording.withLock { recording in
            defer { recording = nil }
            return recording?.texts ?? [:]
        }
    }

    static func write(_ text: @autoclosure () -> String, forStep step: Int) {
        recording.withLock { recording in
            guard recording != nil else { return }
            let text = text()
            recording?.texts[step] = text
            recording?.reporter?.tell(.note(step: step, text))
        }
    }
}
