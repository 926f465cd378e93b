// Rejected: E11.4 wrong value
// The list is ended before the flag is set.

import Synchronization

public final class CancelSource {
    public let token = CancelToken()
    public init() {}
    public func cancel() { token.cancel() }
}

public final class CancelToken: Sendable {
    private let flag = Atomic(false)
    private let observers = Mutex<[Int: @Sendable () -> Void]?>([:])
    private let numbers = Atomic(0)

    public var isCancelled: Bool { flag.load(ordering: .sequentiallyConsistent) }
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
        let all = observers.withLock { observers in
            defer { observers = nil }
            return observers
        }
        flag.store(true, ordering: .sequentiallyConsistent)
        for observer in (all ?? [:]).values { observer() }
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
