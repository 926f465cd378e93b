import PromiseOperators
import RaceLab
import SharedSuite
import Synchronization

// What the exercises on operators have in common: 8 to 11.

/// How a promise ended, in the words of an observer, each time that it was told.
final class Ear: Sendable {
    private let log = Log<String>()

    init() {}

    init<Value>(on promise: AWPromise<Value>) {
        listen(to: promise)
    }

    func listen<Value>(to promise: AWPromise<Value>) {
        promise.observe(on: ImmediateDispatcher()) { outcome in
            let heard = Ear.words(outcome)
            self.log.append(heard, "hears \(heard)")
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
        throw Fault("too early", "\(when) it is \(first) already")
    }

    func expect(_ end: String, _ when: String = "in the end") throws {
        guard let first = heard.first else {
            throw Fault("silence", "\(when) nobody has been told anything; it should be \(end)")
        }
        try expectOnce(when)
        if first != end {
            throw Fault("wrong value", "\(when) it is \(first); it should be \(end)")
        }
    }

    private func expectNotAbandoned() throws {
        guard heard.first == "rejected \(PromiseError.abandoned)" else { return }
        throw Fault(
            "abandoned", "its resolver was gone before anybody had settled it, so it was abandoned")
    }

    func expectOnce(_ when: String = "in the end") throws {
        try expectNotAbandoned()
        if heard.isEmpty { throw Fault("silence", "\(when) nobody has been told anything") }
        if heard.count > 1 { throw Fault("twice", "\(when) the same observer was told twice") }
    }
}

extension Scenario {
    /// It ends once, in one of these ways, and each of them happens in some interleaving.
    func expectOneEnd(_ ear: Ear, _ ways: KeyValuePairs<String, String>) {
        check {
            try ear.expectOnce()
            guard let end = ear.heard.first, !ways.contains(where: { $0.key == end }) else {
                return
            }
            throw Fault("wrong value", "in the end it is \(end), which nobody wanted")
        }
        outcome { ear.heard.first ?? "" }
        for (way, meaning) in ways { expect(way, .acceptable, meaning) }
    }
}

/// Something whose end can be noticed, to be captured by a handler.
final class Captured: Sendable {}

/// Fails if something is still there that nobody should have kept.
func expectGone(_ object: AnyObject?, _ what: String) throws {
    if object != nil { throw Fault("kept alive", what) }
}

/// Runs, and names the reason if a fault comes from handlers that were sent to the main queue.
func withoutMainQueue(_ run: () throws -> Void) throws {
    let before = MainQueueThatNeverRuns.count
    do {
        try run()
    } catch let fault as Fault where MainQueueThatNeverRuns.count == before {
        throw fault
    } catch is Fault {
        throw Fault(
            "sent away",
            "a handler was registered without `on:`, and was sent to the main queue, which runs it "
                + "later or not at all")
    }
}

/// Replaces the main queue where an answer names no dispatcher (see `Adapters/MainQueue.swift`):
/// counts what it receives, and runs none of it.
public struct MainQueueThatNeverRuns: Dispatcher {
    private static let received = Mutex(0)

    static var count: Int { received.withLock { $0 } }

    public init() {}

    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        Self.received.withLock { $0 += 1 }
    }
}

/// Runs nothing that it receives, and releases it.
struct DroppingDispatcher: Dispatcher {
    func dispatch(_ work: @escaping @Sendable () -> Void) {}
}
