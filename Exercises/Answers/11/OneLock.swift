// A flag and a dictionary behind one lock. It is decided under the lock which thread calls an
// observer; the lock is released before an observer is called, or freed.

import Synchronization

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
        var nextNumber = 0
    }

    private let state = Mutex(State())

    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        let number = state.withLock { state -> Int? in
            if state.isCancelled { return nil }
            defer { state.nextNumber += 1 }
            state.observers[state.nextNumber] = observer
            return state.nextNumber
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
