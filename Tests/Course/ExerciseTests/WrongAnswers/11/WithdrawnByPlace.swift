// Rejected: E11.1 lost
// A registration stores the index of its observer in an array. When another observer is removed,
// the indices change.

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
    private var observers: [Observer] = []

    public var isCancelled: Bool { lock.withLock { hasBeenCancelled } }

    public func onCancel(_ observer: @escaping Observer) -> Registration {
        let (number, isLate) = lock.withLock {
            if !hasBeenCancelled { observers.append(observer) }
            return (observers.count - 1, hasBeenCancelled)
        }
        if isLate { observer() }
        return Registration(token: self, number: number)
    }

    fileprivate func cancel() {
        let called = lock.withLock { () -> [Observer] in
            hasBeenCancelled = true
            defer { observers = [] }
            return observers
        }
        for observer in called { observer() }
    }

    fileprivate func withdraw(_ number: Int) {
        lock.withLock {
            if observers.indices.contains(number) { observers.remove(at: number) }
        }
    }
}

public struct Registration {
    fileprivate let token: CancelToken
    fileprivate let number: Int

    public func withdraw() {
        token.withdraw(number)
    }
}
