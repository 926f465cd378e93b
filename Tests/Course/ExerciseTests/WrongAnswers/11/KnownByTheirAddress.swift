// Rejected: E11.3 lost
// A registration that is dropped leaves its address to the next one.

import Foundation

public final class CancelSource {
    public let token = CancelToken()
    public init() {}
    public func cancel() { token.cancel() }
}

public final class CancelToken: @unchecked Sendable {
    private let lock = NSLock()
    private var flag = false
    private var observers: [ObjectIdentifier: @Sendable () -> Void] = [:]

    public var isCancelled: Bool { lock.withLock { flag } }

    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        let registration = Registration(self)
        let late = lock.withLock { () -> Bool in
            if !flag { observers[ObjectIdentifier(registration)] = observer }
            return flag
        }
        if late { observer() }
        return registration
    }

    fileprivate func cancel() {
        let all = lock.withLock { () -> [ObjectIdentifier: @Sendable () -> Void] in
            flag = true
            defer { observers = [:] }
            return observers
        }
        for observer in all.values { observer() }
    }

    fileprivate func withdraw(_ registration: Registration) {
        _ = lock.withLock { observers.removeValue(forKey: ObjectIdentifier(registration)) }
    }
}

public final class Registration {
    private let token: CancelToken
    fileprivate init(_ token: CancelToken) { self.token = token }
    public func withdraw() { token.withdraw(self) }
}
