import Graders
import Stage3ThreadSafe

// Compiled together with the answers to exercises 8 to 10.

/// Called by an answer that leaves out `on:`. Without these functions, the handler would run on the
/// main queue, for which no requirement waits. Here it is counted, and reported.
extension AWPromise {
    @discardableResult
    func then<Next>(
        _ function: @escaping @Sendable (Value) throws -> Next
    ) -> AWPromise<Next> {
        then(on: MainQueueThatNeverRuns(), function)
    }

    @discardableResult
    func then<Next>(
        _ function: @escaping @Sendable (Value) throws -> AWPromise<Next>
    ) -> AWPromise<Next> {
        then(on: MainQueueThatNeverRuns(), function)
    }

    func error(_ function: @escaping RejectFunction) {
        error(on: MainQueueThatNeverRuns(), function)
    }

    @discardableResult
    func continueWith<Next>(
        _ function: @escaping @Sendable (Outcome) throws -> AWPromise<Next>
    ) -> AWPromise<Next> {
        continueWith(on: MainQueueThatNeverRuns(), function)
    }

    @discardableResult
    func observe(_ function: @escaping @Sendable (Outcome) -> Void) -> Observation {
        observe(on: MainQueueThatNeverRuns(), function)
    }
}
