import Foundation
import PromiseOperators
import RaceLab
import SharedSuite
import Testing

@Suite("Dispatchers")
struct DispatcherTests {
    @Test("an operation queue that runs one operation at a time keeps the order")
    func operationQueue() async throws {
        let calls = try await onOwnThread {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let calls = Scenario.Log<String>()
            let (promise, resolver) = AWPromise<Int>.pending()
            for number in 0..<5 {
                promise.then(on: queue) { _ in
                    calls.append("\(number) \(OperationQueue.current === queue)")
                }
            }
            let last = promise.then(on: queue) { _ in }
            resolver.fulfill(1)
            try last.wait()
            return calls.entries
        }
        #expect(calls == (0..<5).map { "\($0) true" })
    }

    @Test("a marked serial queue keeps the order")
    func serialQueue() async throws {
        let calls = try await onOwnThread {
            let queue = SerialQueue(label: "serial")
            let calls = Scenario.Log<Int>()
            let (promise, resolver) = AWPromise<Int>.pending()
            for number in 0..<5 { promise.then(on: queue) { _ in calls.append(number) } }
            let last = promise.then(on: queue) { _ in }
            resolver.fulfill(1)
            try last.wait()
            return calls.entries
        }
        #expect(calls == Array(0..<5))
    }
}
