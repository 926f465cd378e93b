import Foundation
import Synchronization

/// The same workloads with Swift's own concurrency: a `then` is a task that awaits the previous
/// one. Tasks run on Swift's pool, not on a queue.
enum TaskWorkloads {
    static func thens(_ count: Int, times: Int) -> () -> Void {
        let done = DispatchSemaphore(value: 0)
        return {
            for _ in 0..<times {
                var task = Task { true }
                for _ in 1..<count { task = then(task) { $0 } }
                _ = then(task) { _ in done.signal() }
                done.wait()
            }
        }
    }

    static func fulfilling(_ count: Int) -> () -> Void {
        let group = DispatchGroup()
        let pending = (0..<count).map { _ in Pending() }
        for one in pending {
            group.enter()
            Task {
                _ = await one.value
                group.leave()
            }
        }
        waitUntilAwaited(pending)
        return {
            for one in pending { one.fulfill(1) }
            group.wait()
        }
    }

    static func chain(_ links: Int, immediate: Bool) -> (() -> Void)? {
        guard !immediate else { return nil }
        let done = DispatchSemaphore(value: 0)
        let start = Pending()
        var task = Task { await start.value }
        for _ in 1..<links { task = then(task) { $0 + 1 } }
        _ = then(task) { _ in done.signal() }
        waitUntilAwaited([start])
        return {
            start.fulfill(0)
            done.wait()
        }
    }

    static func all(_ count: Int) -> () -> Void {
        let done = DispatchSemaphore(value: 0)
        let parts = (0..<count).map { _ in Pending() }
        Task {
            await withTaskGroup(of: (Int, Int).self) { group in
                for (index, part) in parts.enumerated() {
                    group.addTask { (index, await part.value) }
                }
                var values = [Int](repeating: 0, count: count)
                for await (index, value) in group { values[index] = value }
            }
            done.signal()
        }
        waitUntilAwaited(parts)
        return {
            for part in parts { part.fulfill(1) }
            done.wait()
        }
    }

    private static func then<Value: Sendable, Next: Sendable>(
        _ task: Task<Value, Never>, _ function: @escaping @Sendable (Value) -> Next
    ) -> Task<Next, Never> {
        Task { function(await task.value) }
    }

    /// A result that a task can wait for, once.
    private final class Pending: Sendable {
        private let continuation = Mutex<UnsafeContinuation<Int, Never>?>(nil)

        var value: Int {
            get async {
                await withUnsafeContinuation { waiting in
                    continuation.withLock { $0 = waiting }
                }
            }
        }

        var isAwaited: Bool { continuation.withLock { $0 != nil } }

        func fulfill(_ value: Int) {
            continuation.withLock { $0 }?.resume(returning: value)
        }
    }

    private static func waitUntilAwaited(_ pending: [Pending]) {
        for one in pending {
            while !one.isAwaited { sched_yield() }
        }
    }
}
