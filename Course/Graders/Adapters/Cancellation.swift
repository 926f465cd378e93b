import Graders

// Compiled together with an answer to exercise 11.

final class Pair: CancellationPair, @unchecked Sendable {
    private let source = CancelSource()

    func cancel() {
        source.cancel()
    }

    var isCancelled: Bool { source.token.isCancelled }

    var withoutItsSource: TokenAlone { TokenAlone(source.token) }

    func onCancel(_ observer: @escaping @Sendable () -> Void) -> () -> Void {
        let registration: Registration = source.token.onCancel(observer)
        return { registration.withdraw() }
    }
}

final class TokenAlone: CancellationPair, @unchecked Sendable {
    private let token: CancelToken

    init(_ token: CancelToken) {
        self.token = token
    }

    func cancel() {}

    var isCancelled: Bool { token.isCancelled }

    func onCancel(_ observer: @escaping @Sendable () -> Void) -> () -> Void {
        let registration: Registration = token.onCancel(observer)
        return { registration.withdraw() }
    }
}

final class TheAnswer: CancellationAnswer {
    func pair() -> any CancellationPair { Pair() }

    func tokenAlone(after work: (any CancellationPair) -> Void) -> any CancellationPair {
        let pair = Pair()
        work(pair)
        return pair.withoutItsSource
    }
}

@_cdecl("the_answer")
public func theAnswer() -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(TheAnswer()).toOpaque()
}
