// Rejected: E11.1 wrong value
// The token asks its source, which may already be freed.

import Synchronization

public final class CancelSource: @unchecked Sendable {
    public let token = CancelToken()
    fileprivate typealias Observer = @Sendable () -> Void
    fileprivate struct State {
        var isCancelled = false
        var observers: [Int: Observer] = [:]
        var nextNumber = 0
    }
    fileprivate let state = Mutex(State())

    public init() { token.source = self }

    public func cancel() {
        let observers = state.withLock { state in
            state.isCancelled = true
            defer { state.observers = [:] }
            return state.observers
        }
        for observer in observers.values { observer() }
    }
}

public final class CancelToken: @unchecked Sendable {
    fileprivate weak var source: CancelSource?

    public var isCancelled: Bool { source?.state.withLock { $0.isCancelled } ?? false }

    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        guard let source else { return Registration(source: nil, number: 0) }
        let number = source.state.withLock { state -> Int? in
            if state.isCancelled { return nil }
            defer { state.nextNumber += 1 }
            state.observers[state.nextNumber] = observer
            return state.nextNumber
        }
        guard let number else {
            observer()
            return Registration(source: nil, number: 0)
        }
        return Registration(source: source, number: number)
    }
}

public struct Registration {
    fileprivate weak var source: CancelSource?
    fileprivate let number: Int
    public func withdraw() {
        _ = source?.state.withLock { $0.observers.removeValue(forKey: number) }
    }
}
