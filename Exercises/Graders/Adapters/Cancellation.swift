import Graders

// Compiled together with an answer to exercise 11.

final class Pair: CancellationPair, @unchecked Sendable {
    private let source = CancelSource()

    func cancel() {
        source.cancel()
    }

    var isCancelled: Bool { source.token.isCancelled }

    func onCancel(_ observer: @escaping @Sendable () -> Void) -> () -> Void {
        let registration: Registration = source.token.onCancel(observer)
        return { registration.withdraw() }
    }
}

final class TheAnswer: CancellationAnswer {
    func pair() -> any CancellationPair { Pair() }
}

@_cdecl("the_answer")
public func theAnswer() -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(TheAnswer()).toOpaque()
}
