// Exercise 11 · Told to stop
//
// Write a source and a token that cancel work whose result is no longer needed. The caller keeps
// the source, and cancels. The work receives the token: it can ask whether it is cancelled, and can
// register observers.
//
// - Each observer is called exactly once: inside `cancel`, or inside `onCancel` if it is registered
//   after the cancellation; if it is registered while `cancel` runs, inside either of them.
// - An observer that is withdrawn before the cancellation is not called.
// - Cancelling again, inside an observer or on another thread, changes nothing.
// - While observers are called, `isCancelled` is `true`, and it stays `true`.
// - An observer, or a `deinit` if it is freed, may do anything: register, cancel, wait for others.
// - What an observer has captured is released when the observer has been called or withdrawn, even
//   if source, token and registration live on; if neither happens, when all three are released.
// - Releasing a registration withdraws nothing. A token may outlive its source, and a registration
//   may outlive both.
//
// Everything may happen on any thread at any time. Threads with two different sources must not wait
// for each other. The order in which observers are called is up to you.
//
// The classes and their functions keep their names; their contents are yours. Any technique is
// accepted, including a promise of Stage 3, but not its `CancellationSource` and
// `CancellationToken`. For a promise, `import Stage3ThreadSafe`; it offers:
//
//     AWPromise<Void>.pending()                           a promise, and its resolver
//     resolver.settle(.success(()))                       settles it, unless it is settled
//     promise.observe(on: ImmediateDispatcher()) { … }    an observation, with withdraw()
//     promise.result                                      the outcome, or nil
//
// Grade it with: swift run promise-lab grade 11

public final class CancelSource {
    public let token = CancelToken()

    public init() {}

    public func cancel() {}
}

public final class CancelToken {
    public var isCancelled: Bool { false }

    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        Registration()
    }
}

public final class Registration {
    public func withdraw() {}
}
