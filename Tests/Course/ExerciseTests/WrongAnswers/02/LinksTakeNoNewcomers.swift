// Rejected: E02.1 lost
// A promise of a `then` calls no handlers that are registered after it is settled.

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>

    /// What waits: `then`, `error`, race and all.
    private var handlers: [(Outcome) -> Void] = []
    fileprivate var isLink = false
    public private(set) var result: Outcome?

    public init(
        block: (
            _ resolve: @escaping (Value) -> Void,
            _ reject: @escaping (any Error) -> Void
        ) -> Void
    ) {
        block({ value in self.race(.success(value)) }, { error in self.race(.failure(error)) })
    }

    private func race(_ outcome: Outcome) {
        if case .success = outcome, handlers.isEmpty, isLink { return }
        result = outcome
        let all = handlers
        handlers = []
        all.forEach { $0(outcome) }
    }

    private func `repeat`(_ handler: @escaping (Outcome) -> Void) {
        if let result { handler(result) } else { handlers.append(handler) }
    }

    @discardableResult
    public func then<Next>(
        _ function: @escaping (Value) throws -> Next
    ) -> AWPromise<Next> {
        let next = AWPromise<Next> { resolve, reject in
            `repeat` { outcome in
                do {
                    resolve(try function(outcome.get()))
                } catch {
                    reject(error)
                }
            }
        }
        next.isLink = true
        return next
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        `repeat` { outcome in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}
