// From promises to Swift's tasks, and back.

extension AWPromise {
    /// Waits for the promise, without blocking a thread, and returns its value
    /// or throws its error: `try await promise.value`.
    ///
    /// If the task is cancelled before the promise is settled, this throws a
    /// `CancellationError` at once, and leaves nothing behind on the promise.
    /// The promise goes on: others may be waiting for it. A promise that is
    /// settled already gives its value to a cancelled task, too.
    public var value: Value {
        get async throws {
            // Its handlers may still be having their turns.
            if let result { return try result.get() }
            let (answer, resolver) = Self.pending()
            resolver.follow(self)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    answer.observe(on: ImmediateDispatcher()) { outcome in
                        continuation.resume(with: outcome)
                    }
                }
            } onCancel: {
                resolver.settle(.failure(CancellationError()))
            }
        }
    }

    /// Runs an `async` function, once, in a task of its own, and returns a
    /// promise of what it returns or throws.
    ///
    /// When `token` says so, the task is cancelled. As with every task, it is
    /// for the function to notice, and the promise is settled when it returns.
    /// Whoever does not want to wait for that adds ``cancelled(by:)``.
    public static func task(
        priority: TaskPriority? = nil,
        cancelledBy token: CancellationToken? = nil,
        _ function: @escaping @Sendable () async throws -> Value
    ) -> AWPromise<Value> {
        let (promise, resolver) = pending()
        let task = Task(priority: priority) {
            do {
                resolver.settle(.success(try await function()))
            } catch {
                resolver.settle(.failure(error))
            }
        }
        let here = ImmediateDispatcher()
        if let observation = token?.observe(on: here, { task.cancel() }) {
            promise.afterwards { observation.withdraw() }
        }
        return promise
    }
}
