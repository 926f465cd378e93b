import Graders

// Compiled together with `Handle+Grading.swift` and an answer whose `then` flattens.

extension AWPromise {
    public func gradedFlatten<Next>(
        _ function: @escaping (Value) throws -> any Graders.Handle<Next>
    ) -> any Graders.Handle<Next> {
        self.then { value -> AWPromise<Next> in try function(value) as! AWPromise<Next> }
    }
}
