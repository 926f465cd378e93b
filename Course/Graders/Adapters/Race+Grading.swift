import Graders
import PromiseOperators

// Compiled together with an answer to exercise 9.

/// Called by an answer that names this dispatcher. Counts the handlers until they are released.
extension AWPromise {
    @discardableResult
    func observe(
        on dispatcher: ImmediateDispatcher, _ function: @escaping @Sendable (Outcome) -> Void
    ) -> Observation {
        let handler = HandlerOfAnAnswer(on: self)
        return observe(on: dispatcher as any Dispatcher) { outcome in
            withExtendedLifetime(handler) { function(outcome) }
        }
    }

    @discardableResult
    func then<Next>(
        on dispatcher: ImmediateDispatcher, _ function: @escaping @Sendable (Value) throws -> Next
    ) -> AWPromise<Next> {
        let handler = HandlerOfAnAnswer(on: self)
        return then(on: dispatcher as any Dispatcher) { value in
            try withExtendedLifetime(handler) { try function(value) }
        }
    }

    func error(on dispatcher: ImmediateDispatcher, _ function: @escaping RejectFunction) {
        let handler = HandlerOfAnAnswer(on: self)
        error(on: dispatcher as any Dispatcher) { error in
            withExtendedLifetime(handler) { function(error) }
        }
    }
}

final class AnswerForGrading: Graders.RaceAnswer {
    func first<Value: Sendable>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
        winner(of: promises)
    }

    func inTime<Value: Sendable>(
        _ promise: AWPromise<Value>, _ limit: Duration, _ clock: any PromiseClock
    ) -> AWPromise<Value> {
        withTimeout(promise, after: limit, on: clock)
    }
}
