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

    func add(_ value: Int, _ ordering: MemoryOrdering) -> Int {
        switch ordering {
        case .relaxed: word.wrappingAdd(value, ordering: .relaxed).oldValue
        case .acquiring: word.wrappingAdd(value, ordering: .acquiring).oldValue
        case .releasing: word.wrappingAdd(value, ordering: .releasing).oldValue
        case .acquiringAndReleasing:
            word.wrappingAdd(value, ordering: .acquiringAndReleasing).oldValue
        case .sequentiallyConsistent:
            word.wrappingAdd(value, ordering: .sequentiallyConsistent).oldValue
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

    func compareExchange(
        _ expected: Int, _ desired: Int, _ ordering: MemoryOrdering, _ failing: MemoryOrdering
    ) -> Bool {
        attempt(expected, desired, ordering, failing).exchanged
    }

    /// Returns the value before the exchange, or instead of it.
    func replace(
        _ expected: Int, _ desired: Int, _ ordering: MemoryOrdering, _ failing: MemoryOrdering
    ) -> Int {
        attempt(expected, desired, ordering, failing).original
    }

    private func attempt(
        _ expected: Int, _ desired: Int, _ ordering: MemoryOrdering, _ failing: MemoryOrdering
    ) -> (exchanged: Bool, original: Int) {
        switch (ordering, failing) {
        case (.relaxed, .relaxed):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .relaxed, failureOrdering: .relaxed)
        case (.relaxed, .acquiring):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .relaxed, failureOrdering: .acquiring)
        case (.relaxed, _):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .relaxed, failureOrdering: .sequentiallyConsistent)
        case (.acquiring, .relaxed):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .acquiring, failureOrdering: .relaxed)
        case (.acquiring, .acquiring):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .acquiring, failureOrdering: .acquiring)
        case (.acquiring, _):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .acquiring, failureOrdering: .sequentiallyConsistent)
        case (.releasing, .relaxed):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .releasing, failureOrdering: .relaxed)
        case (.releasing, .acquiring):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .releasing, failureOrdering: .acquiring)
        case (.releasing, _):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .releasing, failureOrdering: .sequentiallyConsistent)
        case (.acquiringAndReleasing, .relaxed):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
        case (.acquiringAndReleasing, .acquiring):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
        case (.acquiringAndReleasing, _):
            word.compareExchange(
                expected: expected, desired: desired,
                successOrdering: .acquiringAndReleasing, failureOrdering: .sequentiallyConsistent)
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
                successOrdering: .sequentiallyConsistent, failureOrdering: .sequentiallyConsistent)
        }
    }
}
