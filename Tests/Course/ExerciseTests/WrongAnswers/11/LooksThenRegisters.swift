// Rejected: E11.4 lost
// The flag is checked in one critical section, and the observer is added in the
// next.

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
        guard !isCancelled else {
            observer()
            return Registration(token: self, number: 0)
        }
        let number = lock.withLock {
            registrationsSoFar += 1
            observers[registrationsSoFar] = observer
            return registrationsSoFar
        }
        return Registration(token: self, number: number)
    }

    fileprivate func cancel() {
        let called = lock.withLock { () -> [Observer] in
            hasBeenCancelled = true
            defer { observers = [:] }
            return Array(observers.values)
        }
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
