import Graders

// Compiled together with `Promise+Grading.swift` and an answer whose `then` flattens.

func hold<Value>(_ promise: AWPromise<Value>) -> Graders.Handle<Value> {
    FlatteningPromiseForGrading(promise)
}

final class FlatteningPromiseForGrading<Value>: PromiseForGrading<Value> {
    override func then<Next>(_ function: @escaping (Value) throws -> Next) -> Graders.Handle<Next> {
        hold(promise.then(function))
    }

    override func flatten<Next>(
        _ function: @escaping (Value) throws -> Graders.Handle<Next>
    ) -> Graders.Handle<Next> {
        hold(
            promise.then { value -> AWPromise<Next> in
                (try function(value) as! PromiseForGrading<Next>).promise
            })
    }
}
