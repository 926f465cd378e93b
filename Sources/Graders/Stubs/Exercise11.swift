// Exercise 11 · Told to stop
//
// Write the pair with which work is told that nobody wants it any more. Whoever has the source may
// cancel; the work is given the token, which it may ask, and with which it may leave observers.
//
// - Each observer is called exactly once: inside of `cancel`, or inside of `onCancel` if it comes
//   too late for that, or by whichever of two threads it was that met there.
// - An observer that was withdrawn before the cancellation is not called.
// - Cancelling again, inside of an observer or on another thread, changes nothing.
// - While observers are called, `isCancelled` is `true`, and it remains so.
// - An observer may do anything: register another one, cancel, wait for another thread.
// - What an observer has captured is let go when it has been called or withdrawn, even if somebody
//   keeps the registration; and with the source and the token, if neither happens.
// - A registration may be dropped. That withdraws nothing. And a token may outlive its source, and
//   a registration both of them.
//
// Everything may happen on any thread at any time. Threads with two different sources must not have
// to wait for each other. The order in which observers are called is up to you.
//
// The classes and their functions keep their names; what is in them is yours. Any technique will
// do, a promise of Stage 3 included, but not its `CancellationSource` and `CancellationToken`. For a
// promise, `import Stage3ThreadSafe`; it offers:
//
//     AWPromise<Void>.pending()                           a promise, and its resolver
//     resolver.settle(.success(()))                       settles it, unless somebody has
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
