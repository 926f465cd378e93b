// Exercise 12 · Find the bug
//
// This promise calls no handler under its lock, and keeps the order of handlers while it settles.
// It passes its tests, and a stress test of ten minutes. But it has a bug: in some interleaving, a
// decision depends on an observation that another thread has meanwhile made untrue.
//
// 1. Find the bug by reading. Name the hazard that the promise fails (`promise-lab list` lists
//    them), and an interleaving in which it fails, as a schedule like those of exercise 1.
//    `promise-lab show` with the id of a hazard and `--stage 3` shows its threads. In this class, a
//    step is taking its lock (with everything that is done under it), or an access to a property
//    that the lock does not protect.
// 2. Then fix the bug, and change nothing else.
//
// The report is checked on the original class, and the fixed class on every hazard. There are other
// variants: `promise-lab exercise 12 --variant 3` replaces this class with the third.
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
        /// The value or the error; `nil` while the promise is pending.
        var outcome: Outcome?
        /// The waiting handlers, in order of registration.
        var handlers: [Handler] = []
        /// Whether a thread is calling handlers. Other threads add theirs to the list.
        var isCalling = false
    }

    private let state = Mutex(State())

    public var result: Outcome? { state.withLock { $0.outcome } }

    // Init.part

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

    // Then.part
}
