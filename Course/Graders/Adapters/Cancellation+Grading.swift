import Graders

// Compiled together with an answer to exercise 11.

extension CancelSource: Graders.Canceller {
    public func gradedCancel() { self.cancel() }
    public var gradedToken: any Graders.Cancellable { self.token }
}

extension CancelToken: Graders.Cancellable {
    public var gradedIsCancelled: Bool { self.isCancelled }
    public func gradedOnCancel(_ observer: @escaping @Sendable () -> Void) -> () -> Void {
        let registration: Registration = self.onCancel(observer)
        return { registration.withdraw() }
    }
}

final class AnswerForGrading: Graders.CancellationAnswer {
    func source() -> any Graders.Canceller { CancelSource() }
}
