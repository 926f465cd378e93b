import Synchronization

extension AWPromise {
    /// Starts work for each input, and never lets more than `limit` promises be
    /// pending at a time. Fulfilled with their values in the order of the
    /// inputs, or rejected with the first error, after which nothing more is
    /// started. What is in flight then goes on, but nobody waits for it.
    ///
    /// `inputs` is gone through once, lazily, each element when there is room
    /// for it, by one thread at a time: it may be endless if the work fails at
    /// some point. `start` runs once at most for each input, where `dispatcher`
    /// wants it. No inputs give an empty array, at once; `limit` is at least 1.
    ///
    /// PromiseKit's `when(fulfilled:concurrently:)`, without what is wrong with
    /// that one: it was seen to exceed its limit in 135 of 200 runs, and to be
    /// fulfilled in spite of a rejection.
    public static func all<Input: Sendable, Part, Inputs: Sequence>(
        _ inputs: Inputs,
        limit: Int,
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ start: @escaping @Sendable (Input) throws -> AWPromise<Part>
    ) -> AWPromise<[Part]>
    where
        Value == [Part], Inputs.Element == Input, Inputs.Iterator: Sendable
    {
        precondition(limit > 0, "with no room, nothing would ever begin")
        let (promise, resolver) = pending()
        let crew = Crew(inputs.makeIterator(), limit, resolver) { input in
            AWPromise<Part>.attempt(on: dispatcher) {
                // While it stood in line, another one may have failed.
                guard promise.result == nil else { throw CancellationError() }
                return try start(input)
            }
        }
        crew.startAsManyAsAllowed()
        return promise
    }
}

/// Works through the inputs, so many at a time.
private final class Crew<Inputs: IteratorProtocol & Sendable, Part: Sendable>:
    Sendable
where Inputs.Element: Sendable {
    private struct State {
        /// `nil` while a thread is starting work. Nobody else can then, and
        /// nobody has to: that thread will look again before it stops.
        var inputs: Inputs?
        var room: Int
        var parts: [Part?] = []
        var isOver = false

        /// The right to start work, for one thread at a time.
        mutating func beginTurn() -> Inputs? {
            guard room > 0, !isOver else { return nil }
            defer { inputs = nil }
            return inputs
        }

        /// Returns the index of what is about to be started.
        mutating func makeRoomForPart() -> Int {
            room -= 1
            parts.append(nil)
            return parts.count - 1
        }
    }

    private let state: Mutex<State>
    private let limit: Int
    private let resolver: Resolver<[Part]>
    private let start: @Sendable (Inputs.Element) -> AWPromise<Part>

    init(
        _ inputs: Inputs, _ limit: Int, _ resolver: Resolver<[Part]>,
        _ start: @escaping @Sendable (Inputs.Element) -> AWPromise<Part>
    ) {
        state = Mutex(State(inputs: inputs, room: limit))
        self.limit = limit
        self.resolver = resolver
        self.start = start
    }

    /// A loop, so that work which is done at once does not deepen the stack:
    /// it comes back here while the turn is still taken, and leaves again.
    func startAsManyAsAllowed() {
        while var inputs = state.withLock({ $0.beginTurn() }) {
            if let input = inputs.next() {
                startWork(input)
            } else {
                state.withLock { $0.isOver = true }
            }
            state.withLock { $0.inputs = inputs }
        }
        finishIfDone()
    }

    private func startWork(_ input: Inputs.Element) {
        let index = state.withLock { $0.makeRoomForPart() }
        start(input).observe(on: ImmediateDispatcher()) { outcome in
            self.workEnded(index, outcome)
        }
    }

    private func workEnded(_ index: Int, _ outcome: Result<Part, any Error>) {
        switch outcome {
        case .success(let part):
            state.withLock {
                $0.parts[index] = part
                $0.room += 1
            }
            startAsManyAsAllowed()
        case .failure(let error):
            state.withLock { $0.isOver = true }
            resolver.settle(.failure(error))
        }
    }

    private func finishIfDone() {
        let parts: [Part]? = state.withLock {
            guard $0.isOver, $0.room == limit else { return nil }
            return $0.parts.compactMap { $0 }
        }
        if let parts { resolver.settle(.success(parts)) }
    }
}
