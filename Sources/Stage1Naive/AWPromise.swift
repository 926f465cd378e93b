/// Stage 1: the promise of the article "Exploring the Promise object" (adow,
/// 2016) in current Swift, without its `then` for functions that return a
/// promise. It has one slot for a handler of the value and one for a handler
/// of the error. Use it on one thread only. Even there it has bugs.
public final class AWPromise<Value> {
    public typealias ResolveFunction = (Value) -> Void
    public typealias RejectFunction = (any Error) -> Void

    /// A promise is pending until its work succeeds or fails.
    private enum State {
        case pending
        case fulfilled
        case rejected
    }

    /// The handler to call with the value.
    private var f_then: ResolveFunction?
    /// The handler to call with the error.
    private var f_error: RejectFunction?
    /// The state. It must agree with `result`, so `complete` and `fail` write
    /// both.
    private var state = State.pending
    /// The value or the error; `nil` while the promise is pending.
    public private(set) var result: Result<Value, any Error>?

    /// Runs `block` at once, on the calling thread, and passes it two
    /// functions: `resolve` for success and `reject` for failure. Handlers run
    /// inside the call of either function, on the thread that calls it.
    public init(
        block: (
            _ resolve: @escaping ResolveFunction,
            _ reject: @escaping RejectFunction
        ) -> Void
    ) {
        block({ value in self.complete(value) }, { error in self.fail(error) })
    }

    private func complete(_ value: Value) {
        result = .success(value)
        state = .fulfilled
        f_then?(value)
    }

    private func fail(_ error: any Error) {
        result = .failure(error)
        state = .rejected
        f_error?(error)
    }

    /// Calls `function` with the value, and returns a promise of its result.
    /// If `function` throws, or if this promise is rejected, the new promise
    /// is rejected with that error.
    ///
    /// `function` runs on the thread that calls `resolve`. If the promise is
    /// already fulfilled, it runs at once on the calling thread. There is one
    /// slot: while the promise is pending, a second `then` replaces the first.
    @discardableResult
    public func then<Next>(
        _ function: @escaping (Value) throws -> Next
    ) -> AWPromise<Next> {
        AWPromise<Next> { resolve, reject in
            let handler: ResolveFunction = { value in
                do {
                    resolve(try function(value))
                } catch {
                    reject(error)
                }
            }
            if state == .pending {
                // An error must reach the end of the chain, so each promise
                // holds the `reject` function of the next one.
                f_error = reject
                f_then = handler
            } else if case .success(let value) = result {
                // `block` can settle the promise before `then` is called.
                handler(value)
            } else if case .failure(let error) = result {
                reject(error)
            }
        }
    }

    /// Ends a chain: calls `function` with the error if this promise, or any
    /// promise before it in the chain, is rejected.
    ///
    /// `function` runs on the thread that calls `reject`, or at once on the
    /// calling thread if the promise is already rejected. It replaces the link
    /// that `then` stored in the same slot, so call it only at the end.
    public func error(_ function: @escaping RejectFunction) {
        if state == .pending {
            f_error = function
        } else if case .failure(let error) = result {
            function(error)
        }
    }
}
