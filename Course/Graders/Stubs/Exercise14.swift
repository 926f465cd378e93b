// Exercise 14 · As weak as possible
//
// A sequence lock lets any number of threads read a pair of numbers while another thread writes it,
// and no thread ever waits. `sequence` is odd while a write is in progress. A reader uses the pair
// only if `sequence` was even before, and is the same afterwards. (One thread writes at a time.)
//
// That protects the reader only if the memory orderings do. Here all of them are relaxed, so a
// reader can get the new x and the old y: a torn pair. Appendix D of the Tutorial explains the
// orderings.
//
// Choose the weakest orderings with which `read` never returns a torn pair: if any one of them were
// a level lower, it could. The levels are:
//
// - of a load: sequentiallyConsistent > acquiring > relaxed
// - of a store: sequentiallyConsistent > releasing > relaxed
// - of a fence: sequentiallyConsistent > acquiringAndReleasing > acquiring, releasing > no fence
//
// You may add fences, as in `atomicMemoryFence(ordering: .releasing)`. Nothing else may change.
// There is more than one right answer.
//
// The grader first explores a write and a read, with all the old values that your orderings allow.
// If no interleaving tears the pair, it tries each weaker ordering in your compiled answer, one at
// a time. An answer whose orderings are stronger than necessary is accepted, and the grader names
// the lines and the orderings that suffice.
//
// Grade it with: swift run promise-lab grade 14

import Synchronization

public final class SequenceLock: Sendable {
    private let sequence = Atomic(0)
    private let x = Atomic(0)
    private let y = Atomic(0)

    public init() {}

    public func write(_ newX: Int, _ newY: Int) {
        let before = sequence.load(ordering: .relaxed)
        sequence.store(before + 1, ordering: .relaxed)
        x.store(newX, ordering: .relaxed)
        y.store(newY, ordering: .relaxed)
        sequence.store(before + 2, ordering: .relaxed)
    }

    /// Returns `nil` if a write is in progress, or has come between.
    public func read() -> (x: Int, y: Int)? {
        let before = sequence.load(ordering: .relaxed)
        guard before % 2 == 0 else { return nil }
        let oneX = x.load(ordering: .relaxed)
        let oneY = y.load(ordering: .relaxed)
        let after = sequence.load(ordering: .relaxed)
        return after == before ? (oneX, oneY) : nil
    }
}
