// A promise inside, which `cancel` fulfills. It has already solved the race between settling and
// observing. When the source is freed, the promise is abandoned, which does not count as a
// cancellation.

import Stage3ThreadSafe

public final class CancelSource {
    public let token: CancelToken
    private let resolver: Resolver<Void>

    public init() {
        let (promise, resolver) = AWPromise<Void>.pending()
        token = CancelToken(promise)
        self.resolver = resolver
    }

    public func cancel() {
        resolver.settle(.success(()))
    }
}

public final class CancelToken {
    private let promise: AWPromise<Void>

    fileprivate init(_ promise: AWPromise<Void>) {
        self.promise = promise
    }

    public var isCancelled: Bool {
        if case .success = promise.result { true } else { false }
    }

    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        Registration(
            observation: promise.observe(on: ImmediateDispatcher()) { outcome in
                if case .success = outcome { observer() }
            })
    }
}

public struct Registration {
    fileprivate let observation: Observation

    public func withdraw() {
        observation.withdraw()
    }
}
