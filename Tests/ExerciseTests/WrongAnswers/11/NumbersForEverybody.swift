// Rejected: E11.17 overlap
// All tokens take their numbers from one variable, each under a lock of its own.

import Synchronization

nonisolated(unsafe) private var nextNumber = 0

public final class CancelSource {
    public let token = CancelToken()

    public init() {}

    public func cancel() {
        token.cancel()
    }
}

public final class CancelToken: Sendable {
    fileprivate typealias Observer = @Sendable () -> Void

    private struct State {
        var isCancelled = false
        var observers: [Int: Observer] = [:]
    }

    private let state = Mutex(State())

    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        let number = state.withLock { state -> Int? in
            if state.isCancelled { return nil }
            defer { nextNumber += 1 }
            state.observers[nextNumber] = observer
            return nextNumber
        }
        guard let number else {
            observer()
            return Registration(token: nil, number: 0)
        }
        return Registration(token: self, number: number)
    }

    fileprivate func cancel() {
        let observers = state.withLock { state in
            state.isCancelled = true
            defer { state.observers = [:] }
            return state.observers
        }
        for observer in observers.values { observer() }
    }

    fileprivate func withdraw(_ number: Int) {
        _ = state.withLock { $0.observers.removeValue(forKey: number) }
    }
}

public struct Registration {
    fileprivate let token: CancelToken?
    fileprivate let number: Int

    public func withdraw() {
        token?.withdraw(number)
    }
}
