import PromiseOperators
import RaceLab
import SharedSuite
import Synchronization

// Shared by the exercises on operators, 8 to 11.

/// Records the outcome of a promise each time that its observer is called.
final class Ear: Sendable {
    private let log = Scenario.Log<String>()

    init() {}

    init<Value>(on promise: AWPromise<Value>) {
        listen(to: promise)
    }

    func listen<Value>(to promise: AWPromise<Value>) {
        promise.observe(on: ImmediateDispatcher()) { outcome in
            let heard = Ear.words(outcome)
            self.log.append(heard, "receives \(heard)")
        }
    }

    static func words<Value>(_ outcome: Result<Value, any Error>?) -> String {
        switch outcome {
        case nil: "pending"
        case .success(let value): "fulfilled \(value)"
        case .failure(let error): "rejected \(error)"
        }
    }

    var heard: [String] { log.entries }

    func expectNothing(_ when: String) throws {
        guard let first = heard.first else { return }
        try expectNotAbandoned()
        throw Fault("too early", "\(when) it is already \(first)")
    }

    func expect(_ end: String, _ when: String = "in the end") throws {
        guard let first = heard.first else {
            throw Fault("not settled", "\(when) no observer has been called; it should be \(end)")
        }
        try expectOnce(when)
        if first != end {
            throw Fault("wrong value", "\(when) it is \(first); it should be \(end)")
        }
    }

    private func expectNotAbandoned() throws {
        guard heard.first == "rejected \(PromiseError.abandoned)" else { return }
        throw Fault(
            "abandoned",
            "its resolver was freed before it had settled the promise, so the promise was "
                + "abandoned")
    }

    func expectOnce(_ when: String = "in the end") throws {
        try expectNotAbandoned()
        if heard.isEmpty { throw Fault("not settled", "\(when) no observer has been called") }
        if heard.count > 1 { throw Fault("twice", "\(when) the same observer was called twice") }
    }
}

extension Scenario {
    /// Checks that it settles once, with one of these outcomes, and that each of them occurs in
    /// some interleaving.
    func expectOneEnd(_ ear: Ear, _ ways: KeyValuePairs<String, String>) {
        check {
            try ear.expectOnce()
            guard let end = ear.heard.first, !ways.contains(where: { $0.key == end }) else {
                return
            }
            throw Fault(
                "wrong value", "in the end it is \(end), which is not one of the expected outcomes")
        }
        outcome { ear.heard.first ?? "" }
        for (way, meaning) in ways { expect(way, .acceptable, meaning) }
    }
}

/// An object for a handler to capture, so that a test can see when it is freed.
final class Captured: Sendable {}

/// Fails if an object is still alive that should have been freed.
func expectGone(_ object: AnyObject?, _ what: String) throws {
    if object != nil { throw Fault("kept alive", what) }
}

/// Runs a check, and names the reason if it failed because handlers were dispatched to the main
/// queue.
func withoutMainQueue(_ run: () throws -> Void) throws {
    let before = MainQueueThatNeverRuns.count
    do {
        try run()
    } catch let fault as Fault {
        throw MainQueueThatNeverRuns.count == before ? fault : MainQueueThatNeverRuns.fault
    }
}

/// The same for a program.
func withoutMainQueue(_ run: () -> Fault?) -> Fault? {
    let before = MainQueueThatNeverRuns.count
    return run().map { MainQueueThatNeverRuns.count == before ? $0 : MainQueueThatNeverRuns.fault }
}

/// Replaces the main queue where an answer names no dispatcher (see `Adapters/MainQueue.swift`).
/// Counts the functions that it receives, and runs none.
public struct MainQueueThatNeverRuns: Dispatcher {
    private static let received = TakingTurns(0)

    static var count: Int { received.access { $0 } }
    static let fault = Fault(
        "main queue",
        "a handler was registered without `on:`, and was dispatched to the main queue, which runs "
            + "it later or never")

    public init() {}

    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        Self.received.access { $0 += 1 }
    }
}

/// Lives as long as a handler that an answer has registered (see `Adapters/Race.swift`), so that a
/// test can see which promises have handlers left.
public final class HandlerOfAnAnswer: Sendable {
    private static let counts = Mutex<[ObjectIdentifier: Int]>([:])

    private let promise: ObjectIdentifier

    public init(on promise: AnyObject) {
        self.promise = ObjectIdentifier(promise)
        Self.counts.withLock { $0[self.promise, default: 0] += 1 }
    }

    deinit { Self.counts.withLock { $0[promise, default: 0] -= 1 } }

    static func count(on promise: AnyObject) -> Int {
        counts.withLock { $0[ObjectIdentifier(promise), default: 0] }
    }
}

/// Releases each function that it receives without running it.
struct DroppingDispatcher: Dispatcher {
    func dispatch(_ work: @escaping @Sendable () -> Void) {}
}
