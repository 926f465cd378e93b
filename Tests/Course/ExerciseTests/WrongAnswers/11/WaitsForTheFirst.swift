// Rejected: E11.4 deadlock
// A second cancellation waits until the first one has called all observers.

import Foundation
import Synchronization

public final class CancelSource {
    public let token = CancelToken()
    public init() {}
    public func cancel() { token.cancel() }
}

public final class CancelToken: @unchecked Sendable {
    private let phase = Atomic(0)
    private let owner = Mutex<pthread_t?>(nil)
    private let observers = Mutex<[Int: @Sendable () -> Void]?>([:])
    private let numbers = Atomic(0)

    public var isCancelled: Bool { observers.withLock { $0 == nil } }
    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        let number = numbers.add(1, ordering: .relaxed).newValue
        let isLate = observers.withLock { observers in
            if observers == nil { return true }
            observers![number] = observer
            return false
        }
        if isLate { observer() }
        return Registration(token: self, number: number)
    }
    fileprivate func cancel() {
        let (isFirst, _) = phase.compareExchange(
            expected: 0, desired: 1, ordering: .sequentiallyConsistent)
        guard isFirst else {
            if owner.withLock({ $0 }) == pthread_self() { return }
            while phase.load(ordering: .sequentiallyConsistent) != 2 {}
            return
        }
        owner.withLock { $0 = pthread_self() }
        let all = observers.withLock { observers in
            defer { observers = nil }
            return observers
        }
        for observer in (all ?? [:]).values { observer() }
        phase.store(2, ordering: .sequentiallyConsistent)
    }
    fileprivate func remove(_ number: Int) {
        let old = observers.withLock { $0?.removeValue(forKey: number) }
        withExtendedLifetime(old) {}
    }
}

public struct Registration {
    fileprivate let token: CancelToken
    fileprivate let number: Int
    public func withdraw() { token.remove(number) }
}
