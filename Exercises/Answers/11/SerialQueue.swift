// A private queue instead of a lock: `sync` runs one function at a time. It returns the observers
// to call, and calls none.

import Dispatch

public final class CancelSource {
    public let token = CancelToken()

    public init() {}

    public func cancel() {
        for observer in token.takeAll() { observer() }
    }
}

public final class CancelToken {
    public typealias Observer = @Sendable () -> Void

    private let queue = DispatchQueue(label: "token")
    private var observers: [Int: Observer] = [:]
    private var registrationsSoFar = 0
    private var hasBeenCancelled = false

    public var isCancelled: Bool { queue.sync { hasBeenCancelled } }

    public func onCancel(_ observer: @escaping Observer) -> Registration {
        let (number, isLate) = queue.sync {
            registrationsSoFar += 1
            if !hasBeenCancelled { observers[registrationsSoFar] = observer }
            return (registrationsSoFar, hasBeenCancelled)
        }
        if isLate { observer() }
        return Registration(withdrawal: { self.withdraw(number) })
    }

    fileprivate func takeAll() -> [Observer] {
        queue.sync {
            hasBeenCancelled = true
            defer { observers = [:] }
            return Array(observers.values)
        }
    }

    private func withdraw(_ number: Int) {
        _ = queue.sync { observers.removeValue(forKey: number) }
    }
}

public struct Registration {
    fileprivate let withdrawal: () -> Void

    public func withdraw() {
        withdrawal()
    }
}
