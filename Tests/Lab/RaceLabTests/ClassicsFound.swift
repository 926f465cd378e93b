import Foundation
import RaceLab
import Synchronization

// The code of docs/Found.md: three bugs of public packages, each in a small class of its own.

/// Collects cleanups, and runs them when it is closed.
class Cleanups {
    fileprivate let isClosed = Mutex(false)
    fileprivate let list = Mutex<[@Sendable () -> Void]?>([])

    func add(_ cleanup: @escaping @Sendable () -> Void) {
        if isClosed.withLock({ $0 }) { return cleanup() }
        list.withLock { $0?.append(cleanup) }
    }

    func close() {
        isClosed.withLock { $0 = true }
        let all = list.withLock { list in
            defer { list = nil }
            return list
        }
        for cleanup in all ?? [] { cleanup() }
    }
}

/// Decides with the list alone, in one critical section.
final class CleanupsInOneSection: Cleanups {
    override func add(_ cleanup: @escaping @Sendable () -> Void) {
        let isAdded = list.withLock { list in
            list?.append(cleanup)
            return list != nil
        }
        if !isAdded { cleanup() }
    }
}

/// A value for which callbacks can wait. It calls them while its lock is held.
class Answer {
    fileprivate let lock = NSLock()
    fileprivate let value: Int

    init(_ value: Int) { self.value = value }

    func whenReady(_ callback: (Int) -> Void) {
        lock.withLock { callback(value) }
    }

    func added(to other: Answer) -> Int {
        var sum = 0
        whenReady { mine in other.whenReady { sum = mine + $0 } }
        return sum
    }
}

/// Calls back after the unlock.
final class AnswerOutsideTheLock: Answer {
    override func whenReady(_ callback: (Int) -> Void) {
        callback(lock.withLock { value })
    }
}

/// A turnstile with one waiter, which goes on when it is signaled or canceled.
class Turnstile {
    fileprivate let lock = NSLock()
    fileprivate var queue: [() -> Void] = []
    fileprivate var waiter: (() -> Void)?

    init(waiter: @escaping () -> Void) {
        self.waiter = waiter
        queue = [waiter]
    }

    func signal() {
        lock.lock()
        let next = queue.popLast()
        lock.unlock()
        next?()
    }

    func cancel() {
        lock.lock()
        queue.removeAll()
        let cancelled = waiter
        lock.unlock()
        cancelled?()
    }
}

/// Only the thread that takes the waiter out of the queue lets it go on.
final class TurnstileWithOneOwner: Turnstile {
    override func cancel() {
        lock.lock()
        let cancelled = queue.popLast()
        lock.unlock()
        cancelled?()
    }
}

extension Classic {
    static let found = [
        Classic("cleanup is lost", .fails(.failedCheck)) { closes(Cleanups(), $0) },
        Classic("cleanup in one section", .survives) { closes(CleanupsInOneSection(), $0) },
        Classic("callbacks under a lock", .fails(.deadlock)) { adds(Answer.init, $0) },
        Classic("callbacks outside the lock", .survives) { adds(AnswerOutsideTheLock.init, $0) },
        Classic("waiter goes on twice", .fails(.failedCheck)) { opens(Turnstile.init, $0) },
        Classic("waiter has one owner", .survives) { opens(TurnstileWithOneOwner.init, $0) },
    ]

    private static func closes(_ cleanups: Cleanups, _ scenario: Scenario) {
        let log = Scenario.Log<String>()
        scenario.thread("adds") { cleanups.add { log.append("cleaned") } }
        scenario.thread("closes") { cleanups.close() }
        scenario.check {
            try Scenario.require(log.entries == ["cleaned"], "cleaned \(log.entries.count) times")
        }
    }

    private static func adds(_ make: (Int) -> Answer, _ scenario: Scenario) {
        let (one, two) = (make(1), make(2))
        scenario.thread("1 + 2") { _ = one.added(to: two) }
        scenario.thread("2 + 1") { _ = two.added(to: one) }
    }

    private static func opens(_ make: (@escaping () -> Void) -> Turnstile, _ scenario: Scenario) {
        let log = Scenario.Log<String>()
        let gate = make { log.append("goes on") }
        scenario.thread("signals") { gate.signal() }
        scenario.thread("cancels") { gate.cancel() }
        scenario.check {
            try Scenario.require(log.entries.count == 1, "goes on \(log.entries.count) times")
        }
    }
}
