import Dispatch

extension AWPromise {
    /// Calls `function` with the outcome, a value or an error, and returns a
    /// promise that settles as the promise returned by `function` does. If
    /// `function` throws, the new promise is rejected with that error.
    ///
    /// If `function` returns the very promise that this call has returned, that
    /// promise is rejected with ``PromiseError/returnedItself``.
    /// (A cycle of several promises is not detected: it stays pending.)
    @discardableResult
    public func continueWith<Next>(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ function: @escaping @Sendable (Outcome) throws -> AWPromise<Next>
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe(on: dispatcher) { outcome, callbacks in
            do {
                let inner = try function(outcome)
                guard inner !== next else { throw PromiseError.returnedItself }
                inner.observe(on: ImmediateDispatcher(), callbacks) {
                    next.settle($0, $1)
                }
            } catch {
                next.settle(.failure(error), callbacks)
            }
        }
        return next
    }

    /// Calls `function` with the outcome, unless it is withdrawn first. An
    /// observer is not part of the chain: nothing waits for it.
    ///
    /// `function` runs at most once, where `dispatcher` decides.
    @discardableResult
    public func observe(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ function: @escaping @Sendable (Outcome) -> Void
    ) -> Observation {
        let observer = Observer()
        observe(on: dispatcher, as: observer) { outcome, _ in
            function(outcome)
        }
        return Observation { [weak self] in self?.withdraw(observer) }
    }
}

/// Identifies a handler that can be withdrawn.
final class Observer: Sendable {}

/// The registration of an observer. Releasing it withdraws nothing.
public struct Observation: Sendable {
    fileprivate let withdrawal: @Sendable () -> Void

    /// Makes the promise release the function. If its turn has come already, it
    /// may still run. Any thread may call this. It searches a list.
    public func withdraw() { withdrawal() }
}
