// Rejected: E11.1 called under a lock
// The observers are called before the lock is released.

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
        lock.lock()
        defer { lock.unlock() }
        hasBeenCancelled = true
        let called = observers.values
        observers = [:]
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
