// Everything is sequentially consistent. That is right, and stronger than necessary.

import Synchronization

public final class SequenceLock: Sendable {
    private let sequence = Atomic(0)
    private let x = Atomic(0)
    private let y = Atomic(0)

    public init() {}

    public func write(_ newX: Int, _ newY: Int) {
        let before = sequence.load(ordering: .sequentiallyConsistent)
        sequence.store(before + 1, ordering: .sequentiallyConsistent)
        x.store(newX, ordering: .sequentiallyConsistent)
        y.store(newY, ordering: .sequentiallyConsistent)
        sequence.store(before + 2, ordering: .sequentiallyConsistent)
    }

    /// Returns `nil` if a write is in progress, or has come between.
    public func read() -> (x: Int, y: Int)? {
        let before = sequence.load(ordering: .sequentiallyConsistent)
        guard before % 2 == 0 else { return nil }
        let oneX = x.load(ordering: .sequentiallyConsistent)
        let oneY = y.load(ordering: .sequentiallyConsistent)
        let after = sequence.load(ordering: .sequentiallyConsistent)
        return after == before ? (oneX, oneY) : nil
    }
}
