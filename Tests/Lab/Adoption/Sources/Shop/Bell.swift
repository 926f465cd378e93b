import Foundation

/// Calling out under a lock: a listener that uses the bell waits for the lock that its own thread holds.
public final class Bell {
    private var listeners: [() -> Void] = []
    private let lock = NSLock()

    public init() {}

    public func onRing(_ listener: @escaping () -> Void) {
        lock.withLock { listeners.append(listener) }
    }

    public func ring() {
        lock.withLock { listeners.forEach { $0() } }
    }
}
