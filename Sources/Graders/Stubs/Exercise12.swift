// Exercise 12 · Find the bug
//
// This promise locks whatever it touches, calls nobody under its lock, and keeps the order across a
// settle. It passes its tests, and a stress test of ten minutes. And there is one interleaving too
// many: somewhere a decision rests on something that another thread has changed meanwhile.
//
// 1. Find it by reading. Say to which hazard the promise falls (promise-lab list tells them), and in
//    which interleaving, as a row of letters as in exercise 1: `promise-lab show` with the id of a
//    hazard and `--stage 3` shows its threads. Steps of this class are: taking its lock (whatever is
//    done under it belongs to the same step), and touching a property that is not behind it.
// 2. Then mend the class, and nothing but the bug.
//
// The report is tried on the promise as it came, the mended class on every hazard. There are five
// variants: promise-lab exercise 12 --variant 3 puts the third one here in place of this one.
//
// Grade it with: swift run promise-lab grade 12

import Foundation
import Synchronization

public enum BugReport {
    public static let variant = 1
    /// The id of the hazard, such as "R05".
    public static let hazard = ""
    /// The interleaving, such as "SRRS".
    public static let schedule = ""
}

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private struct State {
        /// What the promise ended with; `nil` as long as it is pending.
        var outcome: Outcome?
        /// Who waits, in order of registration.
        var handlers: [Handler] = []
        /// Whether some thread is calling handlers. The others leave theirs in the list.
        var isCalling = false
    }

    private let state = Mutex(State())

    public var result: Outcome? { state.withLock { $0.outcome } }

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
        let isFirst = state.withLock { state in
            guard state.outcome == nil else { return false }
            state.outcome = outcome
            state.isCalling = true
            return true
        }
        if isFirst { callHandlers(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        guard result != nil else {
            return state.withLock { $0.handlers.append(handler) }
        }
        let outcome = state.withLock { state -> Outcome? in
            state.handlers.append(handler)
            if state.isCalling { return nil }
            state.isCalling = true
            return state.outcome
        }
        if let outcome { callHandlers(outcome) }
    }

    private func callHandlers(_ outcome: Outcome) {
        while let round = nextRound() {
            for handler in round { handler(outcome) }
        }
    }

    private func nextRound() -> [Handler]? {
        state.withLock { state in
            guard !state.handlers.isEmpty else {
                state.isCalling = false
                return nil
            }
            defer { state.handlers = [] }
            return state.handlers
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
