// Each number releases what was stored before it, and acquires for what is read after it.

import Synchronization

public final class SequenceLock: Sendable {
    private let sequence = Atomic(0)
    private let x = Atomic(0)
    private let y = Atomic(0)

    public init() {}

    public func write(_ newX: Int, _ newY: Int) {
        let before = sequence.load(ordering: .relaxed)
        sequence.store(before + 1, ordering: .relaxed)
        x.store(newX, ordering: .releasing)
        y.store(newY, ordering: .releasing)
        sequence.store(before + 2, ordering: .releasing)
    }

    /// Returns `nil` if a write is in progress, or has come between.
    public func read() -> (x: Int, y: Int)? {
        let before = sequence.load(ordering: .acquiring)
        guard before % 2 == 0 else { return nil }
        let oneX = x.load(ordering: .acquiring)
        let oneY = y.load(ordering: .acquiring)
        let after = sequence.load(ordering: .relaxed)
        return after == before ? (oneX, oneY) : nil
    }
}
