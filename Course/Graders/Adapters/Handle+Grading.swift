import Graders
import SharedSuite

// Compiled together with an answer that is a promise class.

/// A promise with its type hidden.
class PromiseForGrading<Value>: Graders.Handle<Value> {
    let promise: AWPromise<Value>

    init(_ promise: AWPromise<Value>) {
        self.promise = promise
    }

    override var object: AnyObject { promise }
    override var result: Result<Value, any Error>? {
        promise.result
    }

    override func then<Next>(_ function: @escaping (Value) throws -> Next) -> Graders.Handle<Next> {
        PromiseForGrading<Next>(promise.then(function))
    }

    override func error(_ function: @escaping (any Error) -> Void) {
        promise.error(function)
    }

    override var fields: [(title: String, value: String)] {
        storedFields(of: promise, promise.result)
    }
}

extension Graders.PromiseAnswer {
    func handle<Value>(_ block: Graders.Pending<Value>.Block) -> Graders.Handle<Value> {
        hold(AWPromise<Value> { block($0, $1) })
    }
}
