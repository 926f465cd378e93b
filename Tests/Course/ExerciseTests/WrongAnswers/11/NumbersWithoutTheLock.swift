// Rejected: E11.4 lost
// The list is guarded, but the numbers that identify observers are not: two threads may receive
// the same number.

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
        registrationsSoFar += 1
        let number = registrationsSoFar
        let isLate = lock.withLock {
            if !hasBeenCancelled { observers[number] = observer }
            return hasBeenCancelled
        }
        if isLate { observer() }
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
