import Foundation

/// Check-then-act: the lock is released between the question and the answer.
public final class Stock {
    private var pieces: Int
    private let lock = NSLock()

    public init(_ pieces: Int) {
        self.pieces = pieces
    }

    public var count: Int {
        lock.withLock { pieces }
    }

    public func take() -> Bool {
        guard count > 0 else { return false }
        lock.withLock { pieces -= 1 }
        return true
    }

    /// The same without the bug.
    public func takeAtOnce() -> Bool {
        lock.withLock {
            guard pieces > 0 else { return false }
            pieces -= 1
            return true
        }
    }
}
