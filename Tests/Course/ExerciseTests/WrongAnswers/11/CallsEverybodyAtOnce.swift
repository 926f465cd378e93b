// Rejected: E11.1 wrongly called
// Every observer is called when it registers. (Cheats.)

public final class CancelSource {
    public let token = CancelToken()

    public init() {}

    public func cancel() {}
}

public final class CancelToken {
    public var isCancelled: Bool { true }

    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        observer()
        return Registration()
    }
}

public struct Registration {
    public func withdraw() {}
}
