import Graders
import PromiseOperators

// Compiled together with an answer to exercise 10.

final class AnswerForGrading: Graders.RetryAnswer {
    func again<Value: Sendable>(
        _ attempts: Int, _ clock: any PromiseClock,
        delay: @escaping @Sendable (Int) -> Duration,
        while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
        _ work: @escaping @Sendable (Int) throws -> AWPromise<Value>
    ) -> AWPromise<Value> {
        withRetries(
            attempts: attempts, on: clock, delay: delay, while: isWorthwhile, work)
    }
}
