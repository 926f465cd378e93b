import Dispatch
import Synchronization

/// Cancels work. The work receives the ``token``, which it can check and
/// observe.
///
/// (From Bolts, which took it from .NET.)
public final class CancellationSource: Sendable {
    public let token: CancellationToken

    /// Makes a source that is cancelled by ``cancel()``, and by an observer of
    /// `tokens` after one of them is cancelled. Its token retains those
    /// tokens, and leaves no observer on them when it is freed.
    public init(linkedTo tokens: CancellationToken...) {
        token = CancellationToken(linkedTo: tokens)
    }

    /// Cancels the token. Immediate observers run inside this call. Any thread
    /// may call this; later calls do nothing.
    public func cancel() { token.cancel() }
}

/// Reports whether work is cancelled. Any number of threads may use it.
///
/// It may outlive its source. Then only the tokens that the source was linked
/// to can cancel it.
public final class CancellationToken: Sendable {
    /// Fulfilled when the work is cancelled; abandoned when the token is freed.
    /// An observer is called exactly once, even if it is registered while
    /// another thread cancels: the promise guarantees that.
    let promise: AWPromise<Void>
    private let resolver: Resolver<Void>

    /// The tokens that this one is linked to. They have to stay alive to pass
    /// on a cancellation.
    private let links: Mutex<[CancellationToken]>

    fileprivate init(linkedTo tokens: [CancellationToken]) {
        (promise, resolver) = AWPromise<Void>.pending()
        links = Mutex(tokens)
        for token in tokens {
            resolver.follow(token.promise, until: promise) { outcome in
                outcome.isCancellation ? outcome : nil
            }
        }
    }

    deinit {
        resolver.reject(PromiseError.abandoned)
        // Frees the links one by one: if each link freed the next one in its
        // `deinit`, a long chain would exhaust the stack.
        var unused = takeLinks()
        while var token = unused.popLast() {
            guard isKnownUniquelyReferenced(&token) else { continue }
            unused += token.takeLinks()
        }
    }

    private func takeLinks() -> [CancellationToken] {
        links.withLock { links in
            defer { links = [] }
            return links
        }
    }

    fileprivate func cancel() { resolver.fulfill(()) }

    /// Whether the work is cancelled. Once `true`, it stays `true`.
    public var isCancelled: Bool { promise.result?.isCancellation == true }

    /// Throws a `CancellationError` if the work is cancelled. Call it at points
    /// where the work can stop.
    public func throwIfCancelled() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Calls `function` when the work is cancelled, or if it is already.
    /// `function` runs at most once, where `dispatcher` decides. It is
    /// released without a call when the token is freed. Withdraw the
    /// observation when the work is done: the token may live long.
    @discardableResult
    public func observe(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ function: @escaping @Sendable () -> Void
    ) -> Observation {
        promise.observe(on: dispatcher) { outcome in
            if outcome.isCancellation { function() }
        }
    }
}

extension Result<Void, any Error> {
    /// Whether the promise of a token was fulfilled, and not abandoned.
    fileprivate var isCancellation: Bool {
        if case .success = self { true } else { false }
    }
}

extension AWPromise {
    /// Returns a promise that settles as this one does, or is rejected with a
    /// `CancellationError` when `token` is cancelled. If both have happened
    /// already, it is rejected.
    ///
    /// A cancellation is an error like any other, and passes down the chain. In
    /// Bolts it is a third final state. The work itself is not cancelled: pass
    /// it the token, too. When the promise settles, no observer remains on the
    /// token.
    public func cancelled(by token: CancellationToken) -> AWPromise<Value> {
        let (promise, resolver) = Self.pending()
        resolver.follow(token.promise, until: promise) { outcome in
            outcome.isCancellation ? .failure(CancellationError()) : nil
        }
        resolver.follow(self, until: promise) { outcome in
            // Retains the token while there is something to cancel.
            withExtendedLifetime(token) { outcome }
        }
        return promise
    }
}
