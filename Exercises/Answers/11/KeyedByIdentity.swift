// Each observer is found by the identity of its registration.

import Foundation

public final class CancelSource {
    public let token = CancelToken()
    public init() {}
    public func cancel() { token.cancel() }
}

public final class CancelToken {
    private let lock = NSLock()
    private var isDone = false
    private var observers: [ObjectIdentifier: (Registration, () -> Void)] = [:]
    public var isCancelled: Bool { lock.withLock { isDone } }
    fileprivate func cancel() {
        let all = lock.withLock { () -> [ObjectIdentifier: (Registration, () -> Void)] in
            isDone = true
            defer { observers = [:] }
            return observers
        }
        for (_, entry) in all { entry.1() }
    }
    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        let registration = Registration(self)
        let isLate = lock.withLock { () -> Bool in
            if isDone { return true }
            observers[ObjectIdentifier(registration)] = (registration, observer)
            return false
        }
        if isLate { observer() }
        return registration
    }
    fileprivate func remove(_ id: ObjectIdentifier) {
        let gone = lock.withLock { observers.removeValue(forKey: id) }
        withExtendedLifetime(gone) {}
    }
}

public final class Registration {
    private weak var token: CancelToken?
    fileprivate init(_ token: CancelToken) { self.token = token }
    public func withdraw() { token?.remove(ObjectIdentifier(self)) }
}
