// Exercise 2 · Keep both handlers
//
// This is the promise of Stage 1, a little shorter: one slot for what comes next, one for what goes
// wrong. Chapter 2 of the Tutorial has shown what that comes to. A second `then` takes the place of
// the first, and `error` takes the slot in which `then` has kept its link to the rest of the chain.
//
// Make room for everyone. `then` and `error` may be called on one promise any number of times and
// in any mixture, before it settles, after it, or inside one of its handlers, and each of them is
// heard, once: in the order in which they were called, as long as that was before the promise
// settled. The interface stays as it is: `init(block:)`, `then`, `error`, `result`.
//
// Two things to watch: when a promise is rejected, every promise that a `then` has made of it has
// to be rejected as well; and whoever stands further down in such a chain has his place in the
// order, too: that of the `then` through which he is tied to this promise.
//
// There is one thread. Nobody settles the promise a second time: that comes in the next exercise.
//
// Grade it with: swift run promise-lab grade 2

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>

    /// What to do with the value, once there is one.
    private var f_then: ((Value) -> Void)?
    /// What to do with the error, if there is one.
    private var f_error: ((any Error) -> Void)?
    /// What the promise ended with; `nil` as long as it is pending.
    public private(set) var result: Outcome?

    public init(
        block: (
            _ resolve: @escaping (Value) -> Void,
            _ reject: @escaping (any Error) -> Void
        ) -> Void
    ) {
        block({ value in self.complete(value) }, { error in self.fail(error) })
    }

    private func complete(_ value: Value) {
        result = .success(value)
        f_then?(value)
    }

    private func fail(_ error: any Error) {
        result = .failure(error)
        f_error?(error)
    }

    @discardableResult
    public func then<Next>(
        _ function: @escaping (Value) throws -> Next
    ) -> AWPromise<Next> {
        AWPromise<Next> { resolve, reject in
            let handler = { (value: Value) in
                do {
                    resolve(try function(value))
                } catch {
                    reject(error)
                }
            }
            switch result {
            case nil:
                f_then = handler
                f_error = reject
            case .success(let value): handler(value)
            case .failure(let error): reject(error)
            }
        }
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        switch result {
        case nil: f_error = function
        case .success: break
        case .failure(let error): function(error)
        }
    }
}
