// Rejected: E11.3 lost
// A registration that is freed withdraws itself, as in other libraries.

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

public final class Registration {
    private let token: CancelToken
    private let number: Int

    fileprivate init(token: CancelToken, number: Int) {
        self.token = token
        self.number = number
    }

    deinit {
        withdraw()
    }

    public func withdraw() {
        token.withdraw(number)
    }
}
