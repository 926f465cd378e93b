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
///     scenario.check { try require(counter.value == 2, "an increment was lost") }
/// }
/// ```
///
/// None of the closures has to be `Sendable`. Code that the compiler would not let two threads
/// share is what a lab is for.
public final class Scenario {
    struct NamedThread {
        let name: String
        let body: () throws -> Void
    }

    struct Column {
        let title: String
        let read: () -> String
    }

    private(set) var threads: [NamedThread] = []
    private(set) var checks: [() throws -> Void] = []
    private(set) var columns: [Column] = []
    private(set) var readOutcome: (() -> String)?
    var expectations: [ExpectedOutcome] = []

    init() {}

    /// Adds a thread. `body` runs once in each interleaving, on a thread of the lab, side by side
    /// with the other bodies. An error that it throws counts as a failure. There can be up to
    /// eight threads; each needs a name of its own.
    public func thread(_ name: String, _ body: @escaping () throws -> Void) {
        precondition(threads.count < Int(RL_MAX_THREADS), "a scenario has at most 8 threads")
        precondition(!threads.contains { $0.name == name }, "there are two threads named \(name)")
        threads.append(NamedThread(name: name, body: body))
    }

    /// Adds a condition for the end of each interleaving. `check` runs when every thread has come
    /// to its end, and throws if something is wrong; see ``require(_:_:)``. It runs on a thread
    /// of the lab: `#expect` and `XCTAssert` would not find their test there.
    public func check(_ check: @escaping () throws -> Void) {
        checks.append(check)
    }

    /// Adds a column to the tables in which interleavings are shown. `read` is called between
    /// steps, only when a table is made, and never while a lock is held.
    public func state(_ title: String, _ read: @escaping () -> String) {
        columns.append(Column(title: title, read: read))
    }

    /// Names the outcome of each interleaving, to be counted in ``Report/outcomes``. `read` is
    /// called after the checks have passed.
    public func outcome(_ read: @escaping () -> String) {
        readOutcome = read
    }
}

/// What a check throws: a sentence that says what is wrong, without details that differ from one
/// interleaving to the next, since failures with the same sentence are counted together.
public struct CheckFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}

/// Throws a ``CheckFailure`` if `condition` does not hold.
public func require(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
    if !condition { throw CheckFailure(otherwise()) }
}

/// A list to which the threads of a scenario append what they want to remember: who was called,
/// with what, in which order.
///
/// Appending is a step of its own, which other threads may precede or follow. It is no shared
/// access of the code under test, so it is never part of a data race, and orders nothing. It can
/// be used outside of the lab too, from any thread.
public final class Log<Entry>: @unchecked Sendable {
    private var storage: [Entry] = []
    private let lock = Mutex(())

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

    public var entries: [Entry] {
        rl_ignore()
        defer { rl_attend() }
        return lock.withLock { _ in storage }
    }
}

/// The texts of the notes of one run, while a table is being made of it.
enum Notes {
    private static let texts = Mutex<[Int: String]?>(nil)

    static func start() {
        texts.withLock { $0 = [:] }
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
            if texts != nil { texts?[step] = text() }
        }
    }
}
