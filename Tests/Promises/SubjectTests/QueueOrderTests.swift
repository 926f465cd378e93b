import FieldGuide
import RaceLab
import RaceLabTesting
import Testing

/// R06 with a serial queue between the promise and its handlers. The queue keeps the order in which
/// it receives them, so the result depends on whether the promise enqueues under its lock.
@Suite("Order on a serial queue, across a settle", .needsTheLab)
struct QueueOrderTests {
    private let reversed = "the later handler was called first"

    /// Uses reduction.
    private var options: Exploration.Options {
        var options = Exploration.Options()
        options.reduction = true
        return options
    }

    private func check(_ log: Scenario.Log<String>) throws {
        try Scenario.require(log.entries.count == 2, "a handler was lost")
        try Scenario.require(log.entries == ["first", "second"], reversed)
    }

    @Test("PromiseKit, which enqueues after sealing, loses the order")
    func promiseKit() {
        let exploration = explore(options: options) { scenario in
            let queue = scenario.queue("queue")
            let log = Scenario.Log<String>()
            var seal: ((Result<Int, any Error>) -> Void)!
            let promise = PromiseKitStyle<Int> { seal = $0 }
            let settle = seal!
            promise.map(on: queue.async) { _ in log.append("first") }
            scenario.thread("resolver") { settle(.success(1)) }
            scenario.thread("subscriber") {
                promise.map(on: queue.async) { _ in log.append("second") }
            }
            scenario.check { try check(log) }
        }
        #expect(exploration.inconclusive == nil && exploration.coverage == .all)
        #expect(exploration.failing > 0 && exploration.failing < exploration.explored)
        #expect(exploration.findings.map(\.reason) == [reversed])
    }

    @Test("Google Promises, which enqueue under the lock, keep the order")
    func google() {
        let exploration = explore(options: options) { google($0, workers: 1) }
        #expect(exploration.inconclusive == nil && exploration.coverage == .all)
        #expect(exploration.failing == 0 && exploration.explored > 1)
    }

    @Test("Google Promises lose the order on a queue with two workers: the queue must be serial")
    func googleConcurrent() {
        let exploration = explore(options: options) { google($0, workers: 2) }
        #expect(exploration.inconclusive == nil && exploration.coverage == .all)
        #expect(exploration.findings.map(\.reason) == [reversed])
    }

    private func google(_ scenario: Scenario, workers: Int) {
        let queue = scenario.queue("queue", workers: workers)
        let log = Scenario.Log<String>()
        let promise = GooglePromisesStyle<Int>.pending()
        promise.then(on: queue.async) { _ in log.append("first") }
        scenario.thread("resolver") { promise.fulfill(1) }
        scenario.thread("subscriber") {
            promise.then(on: queue.async) { _ in log.append("second") }
        }
        scenario.check { try check(log) }
    }

    @Test(
        "a queue that runs work at once would run it under the lock of Google Promises"
    )
    func googleImmediate() {
        let exploration = explore(options: options) { scenario in
            let promise = GooglePromisesStyle<Int>.pending()
            let other = GooglePromisesStyle<Int>.pending()
            promise.then(on: { $0() }) { _ in other.fulfill(1) }
            other.then(on: { $0() }) { _ in promise.fulfill(2) }
            scenario.thread("one") { promise.fulfill(1) }
            scenario.thread("other") { other.fulfill(2) }
        }
        #expect(exploration.findings.map(\.kind) == [.deadlock])
    }
}
