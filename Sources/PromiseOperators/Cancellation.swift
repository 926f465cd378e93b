import Synchronization

/// Says that work is no longer wanted: the right to cancel.
///
/// The work itself is given the ``token``, which can ask and be told, but not
/// cancel. After Bolts (`BFCancellationTokenSource`), which took it from .NET.
///
/// Inside there is a promise, which is fulfilled when work is cancelled. That
/// an observer is called exactly once, also when it is registered while another
/// thread cancels, is what a promise does anyway.
public final class CancellationSource: Sendable {
    /// What the work is given.
    public let token: CancellationToken

    /// Makes a source that is cancelled when its ``cancel()`` is called, or as
    /// soon as any of `tokens` is: links in a chain of command. It may be
    /// cancelled already. Its token keeps those that it is linked to, and leaves
    /// nothing behind on them when it goes.
    public init(linkedTo tokens: CancellationToken...) {
        token = CancellationToken(linkedTo: tokens)
    }

    /// Cancels. Observers without a queue run inside this call. Calls after the
    /// first do nothing; any thread may make them.
    public func cancel() {
        token.cancel()
    }
}

/// Knows whether work is still wanted. Any number of threads may ask.
///
/// It outlives its source if somebody keeps it, and can then be cancelled only
/// through those that the source was linked to.
public final class CancellationToken: Sendable {
    /// Fulfilled with `true` when work is cancelled, or with `false` when
    /// nobody cares any more.
    let promise: AWPromise<Bool>
    private let resolver: Resolver<Bool>

    /// Those that it is linked to. Somebody has to keep them: each may be linked
    /// itself, and would not pass on any more what it is told.
    private let links: Mutex<[CancellationToken]>

    fileprivate init(linkedTo tokens: [CancellationToken]) {
        (promise, resolver) = AWPromise<Bool>.pending()
        links = Mutex(tokens)
        for token in tokens {
            resolver.follow(token.promise) { outcome in
                outcome.isCancellation ? .success(true) : nil
            }
        }
    }

    deinit {
        resolver.settle(.success(false))
        // One after the other: if each link freed the one before it, a long row
        // of them would exhaust the stack.
        var unwanted = takeLinks()
        while var token = unwanted.popLast() {
            guard isKnownUniquelyReferenced(&token) else { continue }
            unwanted += token.takeLinks()
        }
    }

    private func takeLinks() -> [CancellationToken] {
        links.withLock { links in
            defer { links = [] }
            return links
        }
    }

    func cancel() {
        resolver.settle(.success(true))
    }

    /// Whether `cancel` has been called. Once `true`, it remains so.
    public var isCancelled: Bool {
        promise.result?.isCancellation == true
    }

    /// Throws a `CancellationError` if `cancel` has been called. For the work
    /// to call now and then: nothing stops it by force.
    public func throwIfCancelled() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Calls `function` when `cancel` is called, where `dispatcher` wants it,
    /// once at most; at once if it has been called already. When the source
    /// and all who keep the token are gone, it is dropped uncalled. Withdraw
    /// the observation when the work is done: the token may live for long.
    @discardableResult
    public func observe(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable () -> Void
    ) -> Observation {
        promise.observe(on: dispatcher) { outcome in
            if outcome.isCancellation { function() }
        }
    }
}

extension Result<Bool, any Error> {
    /// Whether this is how the promise inside a token ends when it is used.
    fileprivate var isCancellation: Bool { (try? get()) == true }
}

extension AWPromise {
    /// Ends as this promise ends, or is rejected with a `CancellationError` as
    /// soon as `token` says so, whichever comes first. If both have happened
    /// already, it is cancelled, as in Bolts.
    ///
    /// Cancellation is an error like any other, that `catch` and `recover` can
    /// ask for by its type, and it goes down the chain: nobody is left waiting.
    /// In Bolts it is a third state; in PromiseKit an error too, but one that
    /// `catch` leaves out unless it is asked for; Google's has none.
    ///
    /// The work behind the promise goes on: give it the token as well. Nothing
    /// is left behind on the token when the promise ends.
    public func cancelled(by token: CancellationToken) -> AWPromise<Value> {
        let (promise, resolver) = Self.pending()
        resolver.follow(token.promise) { outcome in
            outcome.isCancellation ? .failure(CancellationError()) : nil
        }
        // As long as there is something to cancel, the token is wanted.
        resolver.follow(self) { outcome in
            withExtendedLifetime(token) { outcome }
        }
        return promise
    }

    /// Calls `function` with the token, for work that can stop half-way: it
    /// may call ``CancellationToken/throwIfCancelled()`` as often as it likes.
    /// If it is cancelled before it begins, it does not begin. The promise is
    /// rejected as soon as the token says so, without waiting for `function`.
    ///
    /// `function` runs once at most, where `dispatcher` wants it.
    public static func attempt(
        on dispatcher: any Dispatcher,
        cancelledBy token: CancellationToken,
        _ function: @escaping @Sendable (CancellationToken) throws -> Value
    ) -> AWPromise<Value> {
        attempt(on: dispatcher) {
            try token.throwIfCancelled()
            return try function(token)
        }.cancelled(by: token)
    }
}
