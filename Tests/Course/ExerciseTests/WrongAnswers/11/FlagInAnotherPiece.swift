// Rejected: E11.4 lost
// The observers are taken in one critical section, and the flag is set in the next. An observer
// that is registered in between stays on a list that is not read again.

import Foundation

public final class CancelSource {
    public let token = CancelToken()

    public init() {}

    public func cancel() {
        token.cancel()
    }
}

public final class CancelToken {
    public typealias Observer = @Sendable () -> Void

    private let lock = NSLock()
    private var hasBeenCancelled = false
    private var observers: [Int: Observer] = [:]
    private var registrationsSoFar = 0

    public var isCancelled: Bool { lock.withLock { hasBeenCancelled } }

    public func onCancel(_ observer: @escaping Observer) -> Registration {
        let (number, isLate) = lock.withLock {
            registrationsSoFar += 1
            if !hasBeenCancelled { observers[registrationsSoFar] = observer }
            return (registrationsSoFar, hasBeenCancelled)
        }
        if isLate { observer() }
        return Registration(token: self, number: number)
    }

    fileprivate func cancel() {
        let called = lock.withLock { () -> [Observer] in
            defer { observers = [:] }
            return Array(observers.values)
        }
        lock.withLock { hasBeenCancelled = true }
        for observer in called { observer() }
    }

    fileprivate func withdraw(_ number: Int) {
        _ = lock.withLock { observers.removeValue(forKey: number) }
    }
}

public struct Registration {
    fileprivate let token: CancelToken
    fileprivate let number: Int

    public func withdraw() {
        token.withdraw(number)
    }
}
