import Models
import Synchronization

// The operations of Swift accept only constants as orderings.

extension MemoryOrdering {
    /// Does nothing for `relaxed`, because there is no relaxed fence.
    @inline(__always)
    func fence() {
        switch self {
        case .relaxed: break
        case .acquiring: atomicMemoryFence(ordering: .acquiring)
        case .releasing: atomicMemoryFence(ordering: .releasing)
        case .acquiringAndReleasing: atomicMemoryFence(ordering: .acquiringAndReleasing)
        case .sequentiallyConsistent: atomicMemoryFence(ordering: .sequentiallyConsistent)
        }
    }
}

/// An atomic integer whose operations take the memory ordering as a value.
final class OrderedAtomic: Sendable {
    private let word = Atomic(0)

    func load(_ ordering: MemoryOrdering) -> Int {
        switch ordering {
        case .relaxed: word.load(ordering: .relaxed)
        case .acquiring: word.load(ordering: .acquiring)
        default: word.load(ordering: .sequentiallyConsistent)
        }
    }

    func store(_ value: Int, _ ordering: MemoryOrdering) {
        switch ordering {
        case .relaxed: word.store(value, ordering: .relaxed)
        case .releasing: word.store(value, ordering: .releasing)
        default: word.store(value, ordering: .sequentiallyConsistent)
        }
    }

    func exchange(_ value: Int, _ ordering: MemoryOrdering) -> Int {
        switch ordering {
        case .relaxed: word.exchange(value, ordering: .relaxed)
        case .acquiring: word.exchange(value, ordering: .acquiring)
        case .releasing: word.exchange(value, ordering: .releasing)
        case .acquiringAndReleasing: word.exchange(value, ordering: .acquiringAndReleasing)
        case .sequentiallyConsistent: word.exchange(value, ordering: .sequentiallyConsistent)
        }
    }

    /// Returns the value before the exchange, or instead of it. The ordering of a failure is not
    /// stronger than that of the success.
    func replace(
        _ expected: Int, _ desired: Int, _ ordering: MemoryOrdering, _ failing: MemoryOrdering
    ) -> Int {
        let result =
            switch (ordering, failing) {
            case (.relaxed, _):
                word.compareExchange(
                    expected: expected, desired: desired,
                    successOrdering: .relaxed, failureOrdering: .relaxed)
            case (.acquiring, .relaxed):
                word.compareExchange(
                    expected: expected, desired: desired,
                    successOrdering: .acquiring, failureOrdering: .relaxed)
            case (.acquiring, _):
                word.compareExchange(
                    expected: expected, desired: desired,
                    successOrdering: .acquiring, failureOrdering: .acquiring)
            case (.releasing, _):
                word.compareExchange(
                    expected: expected, desired: desired,
                    successOrdering: .releasing, failureOrdering: .relaxed)
            case (.acquiringAndReleasing, .relaxed):
                word.compareExchange(
                    expected: expected, desired: desired,
                    successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            case (.acquiringAndReleasing, _):
                word.compareExchange(
                    expected: expected, desired: desired,
                    successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
            case (.sequentiallyConsistent, .relaxed):
                word.compareExchange(
                    expected: expected, desired: desired,
                    successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
            case (.sequentiallyConsistent, .acquiring):
                word.compareExchange(
                    expected: expected, desired: desired,
                    successOrdering: .sequentiallyConsistent, failureOrdering: .acquiring)
            case (.sequentiallyConsistent, _):
                word.compareExchange(
                    expected: expected, desired: desired,
                    successOrdering: .sequentiallyConsistent,
                    failureOrdering: .sequentiallyConsistent)
            }
        return result.original
    }
}
