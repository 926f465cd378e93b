import Dispatch
import Stage1Naive

/// The workloads of Stage 1. It has no dispatchers and is correct on one thread only, so a whole
/// chain is built and settled in one block on the queue, however many `then`s it has.
enum Stage1Workloads {
    static func thens(_ count: Int, times: Int) -> () -> Void {
        let queue = DispatchQueue(label: "thens", qos: .userInitiated)
        let done = DispatchSemaphore(value: 0)
        return {
            for _ in 0..<times {
                queue.async {
                    var promise = AWPromise<Bool> { resolve, _ in resolve(true) }
                    for _ in 1..<count { promise = promise.then { $0 } }
                    promise.then { _ in _ = done.signal() }
                }
                done.wait()
            }
        }
    }

    static func fulfilling(_ count: Int) -> () -> Void {
        let queue = DispatchQueue(label: "many", qos: .userInitiated, attributes: .concurrent)
        let group = DispatchGroup()
        var resolvers: [(Bool) -> Void] = []
        for _ in 0..<count {
            group.enter()
            AWPromise<Bool> { resolve, _ in resolvers.append(resolve) }
                .then { _ in queue.async { group.leave() } }
        }
        return {
            for resolve in resolvers { resolve(true) }
            group.wait()
        }
    }

    /// `nil` if the chain would overflow the stack: every link needs some of it.
    static func chain(_ links: Int, immediate: Bool) -> (() -> Void)? {
        guard immediate, links <= 1_000 else { return nil }
        var start: ((Int) -> Void)?
        var promise = AWPromise<Int> { resolve, _ in start = resolve }
        for _ in 0..<links { promise = promise.then { $0 + 1 } }
        return { [start] in start?(0) }
    }

    // MARK: Memory

    static func pending(_ count: Int, counted: (() -> Void) -> Void) {
        var promises: [AWPromise<Int>] = []
        var resolvers: [(Int) -> Void] = []
        promises.reserveCapacity(count)
        resolvers.reserveCapacity(count)
        counted {
            for _ in 0..<count {
                promises.append(AWPromise<Int> { resolve, _ in resolvers.append(resolve) })
            }
        }
    }

    static func links(_ count: Int, counted: (() -> Void) -> Void) {
        var start: ((Int) -> Void)?
        var promise = AWPromise<Int> { resolve, _ in start = resolve }
        counted {
            for _ in 0..<count { promise = promise.then { $0 + 1 } }
        }
        start?(0)
    }
}
