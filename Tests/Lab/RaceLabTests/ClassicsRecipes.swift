import Foundation
import RaceLab
import Synchronization

// The code of the page "Recipes": small classes as apps contain them, each with a scenario.

/// Counts downloads. `total` forgets the lock.
class DownloadCounter {
    fileprivate let lock = NSLock()
    fileprivate var count = 0

    func finish() {
        lock.lock()
        count += 1
        lock.unlock()
    }

    var total: Int { count }
}

final class LockedDownloadCounter: DownloadCounter {
    override var total: Int { lock.withLock { count } }
}

/// A number of retries that is read and written under a lock, but not in one critical section.
class RetryLimit {
    fileprivate let limit = Mutex(3)

    func take() -> Bool {
        guard limit.withLock({ $0 > 0 }) else { return false }
        limit.withLock { $0 -= 1 }
        return true
    }

    var left: Int { limit.withLock { $0 } }
}

final class RetryLimitInOneSection: RetryLimit {
    override func take() -> Bool {
        limit.withLock { limit in
            guard limit > 0 else { return false }
            limit -= 1
            return true
        }
    }
}

/// Values by key, on a concurrent queue: readers at the same time, one writer alone.
class ValueCache {
    fileprivate let queue = DispatchQueue(label: "cache", attributes: .concurrent)
    fileprivate var values: [String: Int] = [:]
    private(set) var made = 0

    func value(for key: String) -> Int {
        if let value = queue.sync(execute: { values[key] }) { return value }
        return queue.sync(flags: .barrier) { make(key) }
    }

    fileprivate func make(_ key: String) -> Int {
        made += 1
        values[key] = made
        return made
    }
}

final class ValueCacheThatLooksAgain: ValueCache {
    override func value(for key: String) -> Int {
        if let value = queue.sync(execute: { values[key] }) { return value }
        return queue.sync(flags: .barrier) { values[key] ?? make(key) }
    }
}

/// A request with a time-out: whichever comes first calls the completion handler.
class Request {
    fileprivate let queue = DispatchQueue(label: "request")
    fileprivate var completion: ((String) -> Void)?

    init(_ completion: @escaping (String) -> Void) { self.completion = completion }

    func finish(_ result: String) {
        completion?(result)
        completion = nil
    }
}

final class RequestOnItsQueue: Request {
    override func finish(_ result: String) {
        let taken = queue.sync {
            defer { completion = nil }
            return completion
        }
        taken?(result)
    }
}

extension Classic {
    static let recipes = [
        Classic("forgotten lock", .fails(.dataRace)) { downloads($0, DownloadCounter()) },
        Classic("lock everywhere", .survives) { downloads($0, LockedDownloadCounter()) },
        Classic("two critical sections", .fails(.failedCheck)) { retries($0, RetryLimit()) },
        Classic("one critical section", .survives) { retries($0, RetryLimitInOneSection()) },
        cacheMakesTwice,
        cacheLooksAgain,
        Classic("completion twice", .fails(.failedCheck)) { requests($0, Request.init) },
        Classic("completion on a queue", .survives) { requests($0, RequestOnItsQueue.init) },
    ]

    private static func downloads(_ scenario: Scenario, _ counter: DownloadCounter) {
        scenario.thread("network") { counter.finish() }
        scenario.thread("screen") { _ = counter.total }
        scenario.state("count") { "\(counter.total)" }
    }

    private static func retries(_ scenario: Scenario, _ limit: RetryLimit) {
        for _ in 0..<2 { _ = limit.take() }
        scenario.thread("first") { _ = limit.take() }
        scenario.thread("second") { _ = limit.take() }
        scenario.state("left") { "\(limit.left)" }
        scenario.check { try Scenario.require(limit.left >= 0, "more retries than allowed") }
    }

    static let cacheMakesTwice = Classic("cache makes twice", .fails(.failedCheck)) { scenario in
        values(scenario, ValueCache())
    }

    static let cacheLooksAgain = Classic("cache looks again", .survives) { scenario in
        values(scenario, ValueCacheThatLooksAgain())
    }

    private static func values(_ scenario: Scenario, _ cache: ValueCache) {
        scenario.thread("first") { _ = cache.value(for: "key") }
        scenario.thread("second") { _ = cache.value(for: "key") }
        scenario.state("made") { "\(cache.made)" }
        scenario.check { try Scenario.require(cache.made == 1, "the value was made twice") }
    }

    private static func requests(
        _ scenario: Scenario, _ make: (@escaping (String) -> Void) -> Request
    ) {
        let calls = Scenario.Log<String>()
        let request = make { calls.append($0) }
        scenario.thread("network") { request.finish("picture") }
        scenario.thread("timer") { request.finish("timed out") }
        scenario.check {
            try Scenario.require(calls.entries.count == 1, "the handler was not called once")
        }
    }
}
