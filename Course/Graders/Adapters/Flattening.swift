import Graders

// Compiled together with `Promise.swift` and an answer whose `then` flattens.

func hold<Value>(_ promise: AWPromise<Value>) -> Handle<Value> { FlatteningHeld(promise) }

final class FlatteningHeld<Value>: Held<Value> {
    override func then<Next>(_ function: @escaping (Value) throws -> Next) -> Handle<Next> {
        hold(promise.then(function))
    }

    override func flatten<Next>(
        _ function: @escaping (Value) throws -> Handle<Next>
    ) -> Handle<Next> {
        hold(
            promise.then { value -> AWPromise<Next> in
                (try function(value) as! Held<Next>).promise
            })
    }
}
