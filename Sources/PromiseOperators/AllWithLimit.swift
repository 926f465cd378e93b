import Dispatch
import Synchronization

extension AWPromise {
    /// Starts work for each input, and never lets more than `limit` promises be
    /// pending at a time. Returns a promise of their values, in the order of
    /// the inputs. The first error rejects it: no more inputs are taken, and
    /// the outcomes of work that has begun are ignored.
    ///
    /// `inputs` is iterated once, lazily, by one thread at a time, so it may be
    /// infinite. `start` runs at most once for each input, where `dispatcher`
    /// decides. Without inputs, the promise is fulfilled at once. A `limit`
    /// below 1 is a programming error.
    ///
    /// (PromiseKit's `when(fulfilled:concurrently:)` exceeded its limit in 135
    /// of 200 runs.)
    public static func all<Input: Sendable, Part, Inputs: Sequence>(
        _ inputs: Inputs,
        limit: Int,
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ start: @escaping @Sendable (Input) throws -> AWPromise<Part>
    ) -> AWPromise<[Part]>
    where
        Value == [Part], Inputs.Element == Input, Inputs.Iterator: Sendable
    {
        precondition(limit > 0, "a limit below 1 would never start any work")
        let (promise, resolver) = pending()
        let pool = Pool(inputs.makeIterator(), limit, resolver) { input in
            AWPromise<Part>.attempt(on: dispatcher) {
                // Other work may have failed while this was in the queue.
                guard promise.result == nil else { throw CancellationError() }
                return try start(input)
            }
        }
        pool.startWork()
        return promise
    }
}

/// Works through the inputs, several at a time.
private final class Pool<Inputs: IteratorProtocol & Sendable, Part: Sendable>:
    Sendable
where Inputs.Element: Sendable {
    private struct State {
        /// `nil` while a thread is starting work. It checks the state again
        /// before it stops, so no other thread has to wait for it.
        var inputs: Inputs?
        var free: Int
        var parts: [Part?] = []
        var isOver = false

        /// Takes the inputs, if the thread may start work.
        mutating func takeInputs() -> Inputs? {
            guard free > 0, !isOver else { return nil }
            defer { inputs = nil }
            return inputs
        }

        mutating func addPart() -> Int {
            free -= 1
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
        state = Mutex(State(inputs: inputs, free: limit))
        self.limit = limit
        self.resolver = resolver
        self.start = start
    }

    /// Starts as much work as allowed. It is a loop, so that work which ends
    /// inside `start` does not deepen the stack: the nested call of this
    /// function finds the inputs taken, and returns.
    func startWork() {
        while var inputs = state.withLock({ $0.takeInputs() }) {
            if let input = inputs.next() {
                let index = state.withLock { $0.addPart() }
                start(input).observe(on: ImmediateDispatcher()) { outcome in
                    self.finish(index, outcome)
                }
            } else {
                state.withLock { $0.isOver = true }
            }
            state.withLock { $0.inputs = inputs }
        }
        let parts: [Part]? = state.withLock {
            guard $0.isOver, $0.free == limit else { return nil }
            return $0.parts.compactMap { $0 }
        }
        if let parts { Nesting.run { self.resolver.fulfill(parts) } }
    }

    private func finish(_ index: Int, _ outcome: Result<Part, any Error>) {
        switch outcome {
        case .success(let part):
            state.withLock {
                $0.parts[index] = part
                $0.free += 1
            }
            startWork()
        case .failure(let error):
            state.withLock { $0.isOver = true }
            Nesting.run { self.resolver.reject(error) }
        }
    }
}
