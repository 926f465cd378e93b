// Rejected: refused
// Under a lock, readers wait, and there are no orderings to choose.

import Synchronization

public final class SequenceLock: Sendable {
    private let numbers = Mutex((x: 0, y: 0))

    public init() {}

    public func write(_ newX: Int, _ newY: Int) {
        numbers.withLock { $0 = (newX, newY) }
    }

    public func read() -> (x: Int, y: Int)? {
        numbers.withLock { $0 }
    }
}
