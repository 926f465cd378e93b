// Rejected: E11.4 overlap
// It has no lock, which is correct on one thread only.

public final class CancelSource {
    public let token = CancelToken()

    public init() {}

    public func cancel() {
        token.cancel()
    }
}

public final class CancelToken {
    public typealias Observer = @Sendable () -> Void

    private var hasBeenCancelled = false
    private var observers: [Int: Observer] = [:]
    private var registrationsSoFar = 0

    public var isCancelled: Bool { hasBeenCancelled }

    public func onCancel(_ observer: @escaping Observer) -> Registration {
        registrationsSoFar += 1
        let number = registrationsSoFar
        if hasBeenCancelled {
            observer()
        } else {
            observers[number] = observer
        }
        return Registration(token: self, number: number)
    }

    fileprivate func cancel() {
        hasBeenCancelled = true
        let called = observers.values
        observers = [:]
        for observer in called { observer() }
    }

    fileprivate func withdraw(_ number: Int) {
        observers.removeValue(forKey: number)
    }
}

public struct Registration {
    fileprivate let token: CancelToken
    fileprivate let number: Int

    public func withdraw() {
        token.withdraw(number)
    }
}
