// Rejected: E02.1 out of order
// All promises share one list of work, so the chains of a promise take turns.

nonisolated(unsafe) private var work: [() -> Void] = []
nonisolated(unsafe) private var isWorking = false

private func perform(_ job: @escaping () -> Void) {
    work.append(job)
    if isWorking { return }
    isWorking = true
    while !work.isEmpty { work.removeFirst()() }
    isWorking = false
}

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private var handlers: [(Outcome) -> Void] = []
    public private(set) var result: Outcome?

    public init(
        block: (
            _ resolve: @escaping (Value) -> Void,
            _ reject: @escaping (any Error) -> Void
        ) -> Void
    ) {
        block({ value in self.settle(.success(value)) }, { error in self.settle(.failure(error)) })
    }

    private init() {}

    private func settle(_ outcome: Outcome) {
        result = outcome
        for handler in handlers { perform { handler(outcome) } }
        handlers = []
    }

    private func observe(_ handler: @escaping (Outcome) -> Void) {
        if let result { handler(result) } else { handlers.append(handler) }
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
