// The bridge between promises and Swift's tasks.

extension AWPromise {
    /// Suspends the task until the promise is settled, and returns its value or
    /// throws its error: `try await promise.value`.
    ///
    /// If the task is cancelled while the promise is pending, this throws a
    /// `CancellationError` and leaves no observer on the promise.
    public var value: Value {
        get async throws {
            // Does not wait for handlers that are still being called.
            if let result { return try result.get() }
            let here = ImmediateDispatcher()
            let (answer, resolver) = Self.pending()
            var observation: Observation?
            do {
                return try await withTaskCancellationHandler {
                    try await withCheckedThrowingContinuation { continuation in
                        answer.observe(on: here) { continuation.resume(with: $0) }
                        observation = observe(on: here) { resolver.settle($0) }
                    }
                } onCancel: {
                    resolver.reject(CancellationError())
                }
            } catch {
                observation?.withdraw()
                throw error
            }
        }
    }

    /// Runs an `async` function, once, in a new task, and returns a promise of
    /// what it returns or throws.
    ///
    /// When `token` is cancelled, the task is cancelled. The promise is settled
    /// when `function` returns; to stop waiting earlier, add
    /// ``cancelled(by:)``.
    public static func task(
        priority: TaskPriority? = nil,
        cancelledBy token: CancellationToken? = nil,
        _ function: @escaping @Sendable () async throws -> Value
    ) -> AWPromise<Value> {
        let (promise, resolver) = pending()
        let task = Task(priority: priority) {
            do {
                resolver.fulfill(try await function())
            } catch {
                resolver.reject(error)
            }
        }
        let here = ImmediateDispatcher()
        if let observation = token?.observe(on: here, { task.cancel() }) {
            // The token must live as long as the task: those to
            // which it is linked cancel it, and do not hold it.
            promise.observe(on: here) { _ in
                withExtendedLifetime(token) { observation.withdraw() }
            }
        }
        return promise
    }
}
