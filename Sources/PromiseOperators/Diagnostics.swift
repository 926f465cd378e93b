import Synchronization

/// Hears of what is no error of the program's own, but is seldom meant: a
/// second settle, a rejection that nobody has heard, an abandoned promise.
///
/// Set a handler while you develop, or in tests. As long as there is none, this
/// costs nothing on the way of a value; a rejection that nobody waits for costs
/// one look at a flag.
///
/// PromiseKit logs such things (`conf.logHandler`), the browsers raise an event
/// for the second kind, Bolts ends the program on the first. Here they go to a
/// function of yours, which can do any of that.
public enum Diagnostics {
    /// What the handler can hear of. The type is that of the promise's value.
    public enum Remark: Sendable {
        /// `fulfill` or `reject` was called on a promise that was settled
        /// already. The call has changed nothing.
        case settledAgain(any Sendable.Type)
        /// A rejected promise was freed, and nobody had ever registered with
        /// it. Every link of a chain passes the duty on to the next one: what
        /// is reported is its end, if it has no `error`, `catch` or `recover`.
        case unhandledRejection(any Error)
        /// A resolver was freed before it had settled its promise, which is
        /// now rejected with ``PromiseError/abandoned``.
        case abandonedPromise(any Sendable.Type)
    }

    public typealias Handler = @Sendable (Remark) -> Void

    private static let isWanted = Atomic(false)
    private static let current = Mutex<Handler?>(nil)

    /// The function that hears of it; `nil`, unless you set one. It is called
    /// once for each remark, at once, on the thread that gave the cause, never
    /// under a lock of a promise. For an unhandled rejection that is the thread
    /// that drops the promise, so the function must not wait for anything that
    /// this thread may be holding. May be read and set on any thread.
    ///
    /// A rejection that happens before the handler is set is not reported.
    public static var handler: Handler? {
        get { current.withLock { $0 } }
        set {
            // The old one is freed after the lock is released.
            var replaced = newValue
            current.withLock { swap(&$0, &replaced) }
            isWanted.store(newValue != nil, ordering: .releasing)
        }
    }

    static var isOn: Bool { isWanted.load(ordering: .acquiring) }

    static func report(_ remark: @autoclosure () -> Remark) {
        if isOn, let handler { handler(remark()) }
    }
}

/// Lives in a rejected promise that nobody has registered with, and reports the
/// rejection when it is freed together with the promise.
final class UnhandledRejectionAlarm: Sendable {
    private let error: any Error
    private let isOff = Atomic(false)

    /// `nil` if nobody wants to hear of it.
    init?(_ error: any Error) {
        guard Diagnostics.isOn else { return nil }
        self.error = error
    }

    deinit {
        guard !isOff.load(ordering: .acquiring) else { return }
        Diagnostics.report(.unhandledRejection(error))
    }

    /// Somebody has registered.
    func turnOff() {
        isOff.store(true, ordering: .releasing)
    }
}
