import Graders
import SharedSuite

// Compiled together with an answer that is a promise class.

extension AWPromise: Graders.Handle {
    public var gradedResult: Result<Value, any Error>? { self.result }

    public func gradedThen<Next>(
        _ function: @escaping (Value) throws -> Next
    ) -> any Graders.Handle<Next> {
        let next: AWPromise<Next> = self.then(function)
        return next
    }

    public func gradedError(_ function: @escaping (any Error) -> Void) {
        self.error(function)
    }

    public var gradedFields: [(title: String, value: String)] {
        storedFields(of: self, self.result)
    }
}

extension Graders.PromiseAnswer {
    func handle<Value>(_ block: Graders.Pending<Value>.Block) -> any Graders.Handle<Value> {
        AWPromise<Value> { block($0, $1) }
    }
}
