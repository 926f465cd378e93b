/// A handler is `async`, because what it does may belong to another actor. An actor that awaits it lets
/// other callers in.
public typealias AsyncHandler<Value> = @Sendable (Result<Value, any Error>) async -> Void

/// A promise whose functions are `async`: what the two actors below have in common.
public protocol AsyncPromise<Value>: Actor {
    associatedtype Value: Sendable
    typealias Outcome = Result<Value, any Error>

    /// Makes a pending promise. The handlers are registered with it, in this order.
    init(handlers: [AsyncHandler<Value>])

    /// The value or the error; `nil` while the promise is pending.
    var result: Outcome? { get }

    /// Settles the promise. The first call returns when the handlers have returned.
    func settle(_ outcome: Outcome) async

    /// Calls `handler` with the outcome: now, if the promise is settled and no handler is running.
    func observe(_ handler: @escaping AsyncHandler<Value>) async
}

extension AsyncPromise {
    /// Returns a promise of what `function` returns for the value. An error skips it.
    @discardableResult
    public func then(_ function: @escaping @Sendable (Value) async throws -> Value) async -> Self {
        let next = Self(handlers: [])
        await observe { outcome in
            do {
                await next.settle(.success(try await function(try outcome.get())))
            } catch {
                await next.settle(.failure(error))
            }
        }
        return next
    }
}

/// A promise as an actor, with a list of handlers as in Stage 2. Its functions are `async`.
///
/// The compiler accepts it, and there is no data race. But `settle` checks, awaits, and then acts.
public actor ActorStyle<Value: Sendable>: AsyncPromise {
    public typealias Outcome = Result<Value, any Error>

    public private(set) var result: Outcome?
    private var handlers: [AsyncHandler<Value>]

    public init(handlers: [AsyncHandler<Value>] = []) {
        self.handlers = handlers
    }

    public func settle(_ outcome: Outcome) async {
        guard result == nil else { return }
        for handler in handlers { await handler(outcome) }
        handlers = []
        result = outcome
    }

    public func observe(_ handler: @escaping AsyncHandler<Value>) async {
        if let result {
            await handler(result)
        } else {
            handlers.append(handler)
        }
    }
}

/// The same promise, repaired. There is no `await` between a check and the action that depends on it.
/// While handlers are awaited, the phase is `draining`, as in Stage 3.
public actor RepairedActor<Value: Sendable>: AsyncPromise {
    public typealias Outcome = Result<Value, any Error>

    private enum Phase {
        case pending
        case draining(Outcome)
        case settled(Outcome)
    }

    private var phase = Phase.pending
    private var handlers: [AsyncHandler<Value>]

    public init(handlers: [AsyncHandler<Value>] = []) {
        self.handlers = handlers
    }

    public var result: Outcome? {
        switch phase {
        case .pending: nil
        case .draining(let outcome), .settled(let outcome): outcome
        }
    }

    public func settle(_ outcome: Outcome) async {
        guard case .pending = phase else { return }
        await drain(outcome)
    }

    public func observe(_ handler: @escaping AsyncHandler<Value>) async {
        handlers.append(handler)
        if case .settled(let outcome) = phase { await drain(outcome) }
    }

    /// Awaits handlers until none is left. Those that are registered meanwhile come after them.
    private func drain(_ outcome: Outcome) async {
        phase = .draining(outcome)
        while !handlers.isEmpty {
            await handlers.removeFirst()(outcome)
        }
        phase = .settled(outcome)
    }
}
