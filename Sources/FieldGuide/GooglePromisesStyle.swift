import Foundation

/// The core of Google Promises' `FBLPromise`, in the structure of the original.
///
/// Kept: state, value, error and observers under one recursive lock; an observer only **enqueues**
/// its work on the queue it was registered with, and does so under the lock, so that the order on
/// a serial queue is the order of registration; a promise that is fulfilled with another promise
/// follows it.
/// Left out: all operators except `then` and `catch`; the dispatch group for tests; the objects
/// kept alive while pending. There are three differences. A queue is a closure here, passed to each
/// call. A promise follows another one on that queue, where `FBLPromise` always uses the main
/// queue. `@synchronized` is an `NSRecursiveLock` here.
/// Described in: *Google Promises源码学习[1]*, the parts on `initPending`, `fulfill:` and
/// `observeOnQueue:`; *Bolts、PromiseKit、Promises 源码简析*, part three.
public final class GooglePromisesStyle<Value> {
    /// Adds work to a queue and returns. The promise calls this under its lock, so it must not run
    /// the work itself.
    public typealias Queue = (_ work: @escaping () -> Void) -> Void
    public typealias Outcome = Result<Value, any Error>

    private enum State { case pending, fulfilled, rejected }

    private let lock = NSRecursiveLock()
    private var state = State.pending
    private var value: Value?
    private var error: (any Error)?
    private var observers: [(Outcome) -> Void] = []

    private init() {}

    public static func pending() -> GooglePromisesStyle<Value> { GooglePromisesStyle() }

    public var result: Outcome? {
        synchronized {
            switch state {
            case .pending: nil
            case .fulfilled: .success(value!)
            case .rejected: .failure(error!)
            }
        }
    }

    public func fulfill(_ value: Value) {
        synchronized {
            guard state == .pending else { return }
            state = .fulfilled
            self.value = value
            notify(.success(value))
        }
    }

    public func reject(_ error: any Error) {
        synchronized {
            guard state == .pending else { return }
            state = .rejected
            self.error = error
            notify(.failure(error))
        }
    }

    private func synchronized<Answer>(_ body: () -> Answer) -> Answer {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    /// Enqueues the work of all observers. Call it under the lock; no handler runs inside.
    private func notify(_ outcome: Outcome) {
        for observer in observers { observer(outcome) }
        observers = []
    }

    /// Settles this promise, on `queue`, with the outcome of `other`.
    private func follow(_ other: GooglePromisesStyle<Value>, on queue: @escaping Queue) {
        other.observe(on: queue) { self.settle($0) }
    }

    private func settle(_ outcome: Outcome) {
        switch outcome {
        case .success(let value): fulfill(value)
        case .failure(let error): reject(error)
        }
    }

    private func observe(on queue: @escaping Queue, _ handler: @escaping (Outcome) -> Void) {
        synchronized {
            switch state {
            case .pending: observers.append { outcome in queue { handler(outcome) } }
            case .fulfilled: queue { handler(.success(self.value!)) }
            case .rejected: queue { handler(.failure(self.error!)) }
            }
        }
    }

    // MARK: Chaining

    /// Continues with the promise that `work` returns; an error skips it.
    @discardableResult
    public func then<Next>(
        on queue: @escaping Queue,
        _ work: @escaping (Value) throws -> GooglePromisesStyle<Next>
    ) -> GooglePromisesStyle<Next> {
        let successor = GooglePromisesStyle<Next>()
        observe(on: queue) { outcome in
            do {
                successor.follow(try work(outcome.get()), on: queue)
            } catch {
                successor.reject(error)
            }
        }
        return successor
    }

    /// Continues with the value that `work` returns; an error skips it.
    @discardableResult
    public func then<Next>(
        on queue: @escaping Queue, _ work: @escaping (Value) throws -> Next
    ) -> GooglePromisesStyle<Next> {
        let successor = GooglePromisesStyle<Next>()
        observe(on: queue) { outcome in
            successor.settle(Result { try work(outcome.get()) })
        }
        return successor
    }

    /// Calls `reject` with the error, and passes the error on.
    @discardableResult
    public func `catch`(
        on queue: @escaping Queue, _ reject: @escaping (any Error) -> Void
    ) -> GooglePromisesStyle<Value> {
        let successor = GooglePromisesStyle<Value>()
        observe(on: queue) { outcome in
            if case .failure(let error) = outcome { reject(error) }
            successor.settle(outcome)
        }
        return successor
    }
}
