// Rejected: refused
// Wraps the source and token of Stage 3. (Cheats.)

import Stage3ThreadSafe

public final class CancelSource {
    private let source = CancellationSource()
    public let token: CancelToken

    public init() {
        token = CancelToken(source.token)
    }

    public func cancel() {
        source.cancel()
    }
}

public final class CancelToken {
    private let token: CancellationToken

    fileprivate init(_ token: CancellationToken) {
        self.token = token
    }

    public var isCancelled: Bool { token.isCancelled }

    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        Registration(observation: token.observe(on: ImmediateDispatcher(), observer))
    }
}

public struct Registration {
    fileprivate let observation: Observation

    public func withdraw() {
        observation.withdraw()
    }
}
