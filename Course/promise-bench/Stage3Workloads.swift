import Dispatch
import PromiseOperators

/// The workloads of Stage 3.
enum Stage3Workloads {
    static func thens(_ count: Int, times: Int) -> () -> Void {
        let queue = DispatchQueue(label: "thens", qos: .userInitiated)
        let done = DispatchSemaphore(value: 0)
        return {
            for _ in 0..<times {
                var promise = AWPromise<Bool>.fulfilled(true)
                for _ in 1..<count {
                    promise = promise.then(on: queue) { $0 }
                }
                promise.then(on: queue) { _ in _ = done.signal() }
                done.wait()
            }
        }
    }

    static func fulfilling(_ count: Int) -> () -> Void {
        let queue = DispatchQueue(label: "many", qos: .userInitiated, attributes: .concurrent)
        let group = DispatchGroup()
        let resolvers = (0..<count).map { _ in
            let (promise, resolver) = AWPromise<Bool>.pending()
            group.enter()
            promise.then(on: queue) { _ in group.leave() }
            return resolver
        }
        return {
            for resolver in resolvers { resolver.fulfill(true) }
            group.wait()
        }
    }

    static func chain(_ links: Int, immediate: Bool) -> () -> Void {
        let done = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "chain", qos: .userInitiated)
        let dispatcher: any Dispatcher = immediate ? ImmediateDispatcher() : queue
        var (promise, resolver) = AWPromise<Int>.pending()
        for _ in 1..<links { promise = promise.then(on: dispatcher) { $0 + 1 } }
        promise.then(on: dispatcher) { _ in _ = done.signal() }
        return { [resolver] in
            resolver.fulfill(0)
            done.wait()
        }
    }

    static func all(_ count: Int) -> () -> Void {
        let done = DispatchSemaphore(value: 0)
        let parts = (0..<count).map { _ in AWPromise<Int>.pending() }
        AWPromise.all(parts.map(\.promise)).then(on: ImmediateDispatcher()) { _ in
            _ = done.signal()
        }
        return {
            for part in parts { part.resolver.fulfill(1) }
            done.wait()
        }
    }

    // MARK: Memory

    static func pending(_ count: Int, counted: (() -> Void) -> Void) {
        var kept: [(AWPromise<Int>, Resolver<Int>)] = []
        kept.reserveCapacity(count)
        counted {
            for _ in 0..<count { kept.append(AWPromise<Int>.pending()) }
        }
    }

    static func links(_ count: Int, counted: (() -> Void) -> Void) {
        var (promise, resolver) = AWPromise<Int>.pending()
        let dispatcher = ImmediateDispatcher()
        counted {
            for _ in 0..<count { promise = promise.then(on: dispatcher) { $0 + 1 } }
        }
        resolver.fulfill(0)
    }
}
