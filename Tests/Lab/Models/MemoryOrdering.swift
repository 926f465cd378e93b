/// The memory orderings as values.
package enum MemoryOrdering: CaseIterable, Sendable {
    case relaxed, acquiring, releasing, acquiringAndReleasing, sequentiallyConsistent

    package var acquires: Bool { self != .relaxed && self != .releasing }
    package var releases: Bool { self != .relaxed && self != .acquiring }
}

extension [MemoryOrdering] {
    package static let all = MemoryOrdering.allCases
    package static let ofLoads: Self = [.relaxed, .acquiring, .sequentiallyConsistent]
    package static let ofStores: Self = [.relaxed, .releasing, .sequentiallyConsistent]
    package static let ofFences: Self = all.filter { $0 != .relaxed }
}
