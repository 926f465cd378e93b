import Foundation
import RaceLab
import Stage3ThreadSafe
import StageTesting
import Testing

@Suite("Executors")
struct ExecutorTests {
    @Test("an operation queue of one keeps the order")
    func operationQueue() async throws {
        let calls = try await onOwnThread {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            let calls = Log<String>()
            let (promise, resolver) = AWPromise<Int>.pending()
            for number in 0..<5 {
                promise.done(on: queue) { _ in
                    calls.append("\(number) \(OperationQueue.current === queue)")
                }
            }
            let last = promise.done(on: queue) { _ in }
            resolver.fulfill(1)
            try last.wait()
            return calls.entries
        }
        #expect(calls == (0..<5).map { "\($0) true" })
    }

    @Test("a closure runs the work where it likes")
    func closure() {
        let works = Log<@Sendable () -> Void>()
        let later = ClosureDispatcher { works.append($0) }
        let promise = AWPromise.fulfilled(1).then(on: later) { $0 + 1 }
        #expect(promise.result == nil)
        #expect(works.entries.count == 1)
        works.entries[0]()
        #expect(promise.settledValue == 2)
    }

    @Test("a serial queue keeps the order, and the main queue is one")
    func serialQueue() async throws {
        let calls = try await onOwnThread {
            let queue = SerialQueue(label: "serial")
            let calls = Log<Int>()
            let (promise, resolver) = AWPromise<Int>.pending()
            for number in 0..<5 { promise.done(on: queue) { _ in calls.append(number) } }
            let last = promise.done(on: queue) { _ in }
            resolver.fulfill(1)
            try last.wait()
            return calls.entries
        }
        #expect(calls == Array(0..<5))
        #expect(SerialQueue.main.queue.label == DispatchQueue.main.label)
    }

    @Test("with stack to spare, handlers run at once")
    func stackToSpare() {
        let promise = AWPromise.fulfilled(1).then(on: StackWatchingDispatcher()) { $0 + 1 }
        #expect(promise.settledValue == 2)
    }

    /// Each handler settles the next promise itself, from within: without a dispatcher that
    /// watches the stack, 20,000 of them end the program (see the next test).
    private static func nest(_ depth: Int, on dispatcher: any Dispatcher) -> Int {
        let pairs = (0...depth).map { _ in AWPromise<Int>.pending() }
        for index in 0..<depth {
            pairs[index].promise.observe(on: dispatcher) { outcome in
                if let value = try? outcome.get() { pairs[index + 1].resolver.fulfill(value + 1) }
            }
        }
        pairs[0].resolver.fulfill(0)
        return (try? pairs[depth].promise.wait()) ?? -1
    }

    @Test("when the stack runs out, handlers go on elsewhere")
    func stackRunsOut() async throws {
        let depth = try await onOwnThread {
            ExecutorTests.nest(50_000, on: StackWatchingDispatcher())
        }
        #expect(depth == 50_000)
    }

    @Test("which the immediate dispatcher does not survive", .needsAStackOverflow)
    func immediateOverflows() async {
        await #expect(processExitsWith: .failure) {
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = ExecutorTests.nest(50_000, on: ImmediateDispatcher())
                done.signal()
            }
            done.wait()
        }
    }
}
