/// Stage 1: the promise of the article "Exploring the Promise object" (adow,
/// 2016), in today's Swift. One slot for what comes next, one for what goes
/// wrong, and nothing else. Use it from one thread; even there it has faults,
/// and the tests of this stage name every one of them.
public final class AWPromise<Value> {
    public typealias ResolveFunction = (Value) -> Void
    public typealias RejectFunction = (any Error) -> Void

    /// A promise is pending until its work ends, well or badly.
    private enum State {
        case pending
        case fulfilled
        case rejected
    }

    /// What to do with the value, once there is one.
    private var f_then: ResolveFunction?
    /// What to do with the error, if there is one.
    private var f_error: RejectFunction?
    /// Where the promise stands. It goes with `result`: `complete` and `fail`
    /// write both.
    private var state = State.pending
    /// What the work ended with; `nil` as long as the promise is pending.
    public private(set) var result: Result<Value, any Error>?

    /// Runs `block` at once, on the calling thread, and hands it two
    /// functions: `resolve` for when its work succeeds, `reject` for when it
    /// fails. Handlers run inside whichever of them is called, on its thread.
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

    /// Calls `function` with the value, and returns a promise of what it
    /// returns. If `function` throws, or if this promise is rejected, the new
    /// promise is rejected with that error.
    ///
    /// `function` runs on the thread that resolves the promise, or at once on
    /// the calling thread if the promise is fulfilled already. There is one
    /// slot: a second `then` takes the place of the first.
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
                // The error has to reach whoever stands at the end of the
                // chain, so each promise holds the `reject` of the next one.
                f_error = reject
                f_then = handler
            } else if case .success(let value) = result {
                // Synchronous work is done before anybody can say `then`.
                handler(value)
            } else if case .failure(let error) = result {
                reject(error)
            }
        }
    }

    /// Ends a chain: calls `function` with the error if this promise, or any
    /// promise before it in the chain, is rejected.
    ///
    /// `function` runs on the thread that rejects the promise, or at once on
    /// the calling thread if it is rejected already. It takes the slot in
    /// which `then` keeps its link, so it belongs at the end and only there.
    public func error(_ function: @escaping RejectFunction) {
        if state == .pending {
            f_error = function
        } else if case .failure(let error) = result {
            function(error)
        }
    }
}
