import Dispatch
import Foundation
import Stage3ThreadSafe
import Synchronization
import Testing

/// Many threads at once, for ThreadSanitizer. It finds data races that occur in a run within
/// seconds; the lab finds those that need a certain interleaving, and other failures.
@Suite("Stage 3 under load")
struct Stage3StressTests {
    private static let rounds = 2_000

    @Test("settling, registering and reading from eight threads")
    func settleAndRegister() async {
        let heard = Atomic(0)
        let blind = Atomic(0)
        await inRounds(Self.rounds) { threads in
            let (promise, resolver) = AWPromise<Int>.pending()
            threads { index in
                guard index.isMultiple(of: 2) else {
                    promise.then(on: ImmediateDispatcher()) { $0 + 1 }
                        .then(on: ImmediateDispatcher()) { _ in heard.add(1, ordering: .relaxed) }
                    return
                }
                resolver.fulfill(index)
                if promise.result == nil { blind.add(1, ordering: .relaxed) }
            }
        }
        #expect(heard.load(ordering: .relaxed) == Self.rounds * 4, "each handler, each once")
        #expect(blind.load(ordering: .relaxed) == 0, "after `fulfill` the promise is settled")
    }

    @Test("freeing the resolver while others register")
    func drop() async {
        let abandoned = Atomic(0)
        await inRounds(Self.rounds) { threads in
            let (promise, resolver) = AWPromise<Int>.pending()
            let held = Mutex<Resolver<Int>?>(consume resolver)
            threads { index in
                guard index > 0 else { return held.withLock { $0 = nil } }
                promise.error(on: ImmediateDispatcher()) { _ in
                    abandoned.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(abandoned.load(ordering: .relaxed) == Self.rounds * 7)
    }

    @Test("handlers on a queue, in order of registration")
    func order() async {
        let queue = DispatchQueue(label: "order")
        let seen = Mutex<[Int]>([])
        for round in 0..<200 {
            let (promise, resolver) = AWPromise<Int>.pending()
            for index in 0..<5 {
                promise.then(on: queue) { _ in seen.withLock { $0.append(round * 10 + index) } }
            }
            Thread.detachNewThread { resolver.fulfill(round) }
            await withCheckedContinuation { continuation in
                promise.then(on: queue) { _ in continuation.resume() }
            }
        }
        let expected = (0..<200).flatMap { round in (0..<5).map { round * 10 + $0 } }
        #expect(seen.withLock { $0 } == expected)
    }

    /// Runs each round on a thread that may block. `body` hands its work to eight threads, and
    /// continues when all of them have finished.
    private func inRounds(
        _ count: Int,
        _ body: @escaping @Sendable (_ threads: (@Sendable (Int) -> Void) -> Void) -> Void
    ) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                for _ in 0..<count {
                    body { work in
                        DispatchQueue.concurrentPerform(iterations: 8) { work($0) }
                    }
                }
                continuation.resume()
            }
        }
    }
}
