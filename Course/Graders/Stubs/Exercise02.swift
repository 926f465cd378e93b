// Exercise 2 · Keep both handlers
//
// This is the promise of Stage 1, slightly shortened: one slot for the next function, one for the
// error function. Chapter 2 of the Tutorial shows what goes wrong: a second `then` replaces the
// first, and `error` replaces the link to the rest of the chain that `then` has stored in its slot.
//
// Make room for all handlers. `then` and `error` may be called on one promise any number of times
// and in any mixture: before it settles, after it, or inside one of its handlers. Each handler is
// called once. Handlers that are registered before the promise settles are called in the order of
// registration. The interface stays as it is: `init(block:)`, `then`, `error`, `result`. The class
// stays `public final`: the grader adds a conformance that a class with subclasses cannot have.
//
// Two things to watch. When a promise is rejected, every promise that a `then` on it has returned
// must be rejected as well. And the handlers of such a chain run before any handler that is
// registered on the first promise after that `then`.
//
// A promise to which nothing refers any more must be freed, and so must what its handlers have
// captured, even if it was never settled. A promise refers only to those that wait for it.
//
// There is one thread. The promise is settled only once; the next exercise is about a second time.
//
// Grade it with: swift run promise-lab grade 2

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>

    /// Called with the value.
    private var f_then: ((Value) -> Void)?
    /// Called with the error.
    private var f_error: ((any Error) -> Void)?
    /// The value or the error; `nil` while the promise is pending.
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
