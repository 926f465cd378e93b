// A lock of the threads library. It must stay at one address, so it is in an object of its own.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = Lock()
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []

    private final class Lock {
        private var mutex = pthread_mutex_t()

        init() { pthread_mutex_init(&mutex, nil) }

        deinit { pthread_mutex_destroy(&mutex) }

        func lock() { pthread_mutex_lock(&mutex) }

        func unlock() { pthread_mutex_unlock(&mutex) }
    }

    public var result: Outcome? {
        lock.lock()
        defer { lock.unlock() }
        return outcome
    }

    public init(
        block: (
            _ resolve: @escaping (Value) -> Void,
            _ reject: @escaping (any Error) -> Void
        ) -> Void
    ) {
        block(
            { value in self.settle(.success(value)) },
            { error in self.settle(.failure(error)) }
        )
    }

    private init() {}

    private func settle(_ outcome: Outcome) {
        lock.lock()
        guard self.outcome == nil else { return lock.unlock() }
        self.outcome = outcome
        let waiting = handlers
        handlers = []
        lock.unlock()
        for handler in waiting { handler(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        lock.lock()
        if let outcome {
            lock.unlock()
            handler(outcome)
        } else {
            handlers.append(handler)
            lock.unlock()
        }
    }

    @discardableResult
    public func then<Next>(
        _ function: @escaping (Value) throws -> Next
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe { outcome in
            next.settle(Result { try function(outcome.get()) })
        }
        return next
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        observe { outcome in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}
