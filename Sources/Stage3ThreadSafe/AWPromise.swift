import Synchronization

/// Stage 3: the same promise for any number of threads.
///
/// It may be settled, observed and dropped on any thread at any time. It
/// settles once. Every handler is called exactly once, unless it is withdrawn,
/// in the order in which they were registered, even when registering and
/// settling meet. All that changes lives in one state behind one lock, and the
/// lock is held for the length of a state transition only: no function of yours
/// is ever called, and nothing that it has captured is ever freed, under it.
public final class AWPromise<Value: Sendable>: Sendable {
    public typealias Outcome = Result<Value, any Error>
    public typealias ResolveFunction = @Sendable (Value) -> Void
    public typealias RejectFunction = @Sendable (any Error) -> Void
    typealias Handler = @Sendable (Outcome, inout Agenda) -> Void

    private let state = Mutex(State())

    /// What the promise ended with; `nil` as long as it is pending. By the
    /// time you look at a `nil` it may be out of date; an outcome never is.
    public var result: Outcome? {
        state.withLock { $0.outcome }
    }

    /// Runs `block` at once, on the calling thread, and hands it two
    /// functions: `resolve` for when its work succeeds, `reject` for when it
    /// fails. Both may be called from any thread. The first call of either
    /// settles the promise; all later calls are ignored. If both functions are
    /// dropped and neither was called, the promise is rejected with
    /// ``PromiseError/abandoned``.
    public convenience init(
        block: (
            _ resolve: @escaping ResolveFunction,
            _ reject: @escaping RejectFunction
        ) -> Void
    ) {
        self.init()
        let resolver = Resolver(self)
        block(
            { value in resolver.fulfill(value) },
            { error in resolver.reject(error) }
        )
    }

    /// Makes a pending promise that is settled by code in this module.
    init() {}

    /// Makes a pending promise, and the resolver that settles it.
    public static func pending() -> (
        promise: AWPromise<Value>, resolver: Resolver<Value>
    ) {
        let promise = AWPromise<Value>()
        return (promise, Resolver(promise))
    }
}

// MARK: - Two things can happen to a promise

extension AWPromise {
    /// It settles. Nothing happens if it is settled already; the answer says
    /// whether this call was the one that did it.
    @discardableResult
    func settle(_ outcome: Outcome) -> Bool {
        var agenda = Agenda()
        defer { agenda.workThrough() }
        return settle(outcome, &agenda)
    }

    /// It settles while this thread is working through an agenda.
    @discardableResult
    func settle(_ outcome: Outcome, _ agenda: inout Agenda) -> Bool {
        let settling = state.withLock { $0.settle(outcome) }
        if settling == .handlersWait { agenda.add(callHandlers) }
        return settling != .tooLate
    }

    /// It is observed: `handler` is called with the outcome, exactly once,
    /// unless it is withdrawn before. The answer is the ticket for that.
    @discardableResult
    func observe(_ handler: @escaping Handler) -> Ticket {
        var agenda = Agenda()
        defer { agenda.workThrough() }
        return observe(&agenda, handler)
    }

    /// It is observed while this thread is working through an agenda.
    @discardableResult
    func observe(
        _ agenda: inout Agenda, _ handler: @escaping Handler
    ) -> Ticket {
        let (ticket, ours) = state.withLock { $0.register(handler) }
        if ours { agenda.add(callHandlers) }
        return ticket
    }

    /// When it settles, an operator has something to put away. That is done in
    /// its turn, as handlers are called, but it is not to hear the outcome.
    func afterwards(_ putAway: @escaping @Sendable () -> Void) {
        var agenda = Agenda()
        defer { agenda.workThrough() }
        let (_, ours) = state.withLock { $0.enlist { _, _ in putAway() } }
        if ours { agenda.add(callHandlers) }
    }

    /// Forgets a handler, if it has not been called and is not about to be.
    func withdraw(_ ticket: Ticket) {
        // The handler leaves the lock alive, and is freed here.
        _ = state.withLock { $0.withdraw(ticket) }
    }

    /// Calls the handlers that wait, and those that join them meanwhile. Only
    /// the thread to which the state said "ours" may come here: that is why
    /// handlers never overtake one another.
    private func callHandlers(_ agenda: inout Agenda) {
        while let turn = state.withLock({ $0.nextTurn() }) {
            for place in turn.places {
                place.handler?(turn.outcome, &agenda)
            }
        }
    }
}

// MARK: - What is behind the lock

extension AWPromise {
    /// Plain values and pure transitions: each function changes the state and
    /// says what is to be done about it after the lock is released.
    private struct State {
        enum Phase {
            /// Will become `calling` when the promise settles, once, or
            /// `settled` if nobody waits.
            case pending
            /// Settled, and one thread is calling handlers. Will become
            /// `settled` when that thread finds that nobody waits.
            case calling(Outcome)
            /// Settled, and nobody waits. Will become `calling` for a while
            /// when somebody registers late.
            case settled(Outcome)
        }

        enum Settling {
            case tooLate, nobodyWaits, handlersWait
        }

        private var phase = Phase.pending
        private var waiting = WaitingList<Value>()

        /// Whether anybody has ever registered, withdrawn or not.
        private var isObserved = false

        /// Rings when the promise is freed, unless somebody registers before.
        private var alarm: UnhandledRejectionAlarm?

        var outcome: Outcome? {
            switch phase {
            case .pending: nil
            case .calling(let outcome), .settled(let outcome): outcome
            }
        }

        /// If it returns `.handlersWait`, it is for the caller to call them.
        mutating func settle(_ outcome: Outcome) -> Settling {
            guard case .pending = phase else { return .tooLate }
            if !isObserved, case .failure(let error) = outcome {
                alarm = UnhandledRejectionAlarm(error)
            }
            if waiting.isEmpty {
                phase = .settled(outcome)
                return .nobodyWaits
            }
            phase = .calling(outcome)
            return .handlersWait
        }

        /// Returns whether it is ours, the caller's, to call the handlers.
        mutating func register(
            _ handler: @escaping Handler
        ) -> (ticket: Ticket, ours: Bool) {
            isObserved = true
            alarm?.turnOff()
            return enlist(handler)
        }

        /// The same for a handler that only puts something away: if the outcome
        /// is a rejection, nobody has heard of it yet.
        mutating func enlist(
            _ handler: @escaping Handler
        ) -> (ticket: Ticket, ours: Bool) {
            let ticket = waiting.append(handler)
            guard case .settled(let outcome) = phase else {
                return (ticket, false)
            }
            phase = .calling(outcome)
            return (ticket, true)
        }

        /// Returns the handler, so that it is not freed in here.
        mutating func withdraw(_ ticket: Ticket) -> Handler? {
            waiting.withdraw(ticket)
        }

        /// Returns who is to be called now, or `nil` if all have been: from
        /// then on the next one who registers calls for himself.
        mutating func nextTurn() -> (
            outcome: Outcome, places: [WaitingList<Value>.Place]
        )? {
            guard case .calling(let outcome) = phase else {
                preconditionFailure("only the caller of handlers takes turns")
            }
            if waiting.isEmpty {
                phase = .settled(outcome)
                return nil
            }
            return (outcome, waiting.takeAll())
        }
    }
}

/// What a promise itself can have to complain of.
public enum PromiseError: Error {
    /// A function passed to `then` returned the promise that this `then` had
    /// returned before.
    case returnedItself
    /// Whoever was to settle the promise has gone without doing so.
    case abandoned
}
