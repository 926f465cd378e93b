import Graders

// Compiled together with an answer to exercise 11.

final class PairForGrading: CancellationPair, @unchecked Sendable {
    private let source: CancelSource?
    private let token: CancelToken

    init(_ source: CancelSource?, _ token: CancelToken) {
        self.source = source
        self.token = token
    }

    func cancel() {
        source?.cancel()
    }

    var isCancelled: Bool { token.isCancelled }

    var withoutItsSource: any CancellationPair { PairForGrading(nil, token) }

    func onCancel(_ observer: @escaping @Sendable () -> Void) -> () -> Void {
        let registration: Registration = token.onCancel(observer)
        return { registration.withdraw() }
    }
}

final class AnswerForGrading: Graders.CancellationAnswer {
    func pair() -> any CancellationPair {
        let source = CancelSource()
        return PairForGrading(source, source.token)
    }
}
