import Graders
import Stage3ThreadSafe

// Compiled together with an answer to exercise 8.

final class AnswerForGrading: Graders.AllAnswer {
    func together<Value: Sendable>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
        whenAll(promises)
    }
}
