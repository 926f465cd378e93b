// The count is reserved with a compare-and-exchange.

import Synchronization

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public final class BoxOffice: Sendable {
    private let free: Atomic<Int>

    public var freeSeats: Int { free.load(ordering: .relaxed) }

    public init(seats: Int) {
        free = Atomic(seats)
    }

    private func reserve() -> Bool {
        var count = freeSeats
        while count > 0 {
            let (isExchanged, original) = free.compareExchange(
                expected: count, desired: count - 1, ordering: .relaxed)
            if isExchanged { return true }
            count = original
        }
        return false
    }

    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        guard reserve() else { return false }
        do {
            try await pay()
        } catch {
            free.add(1, ordering: .relaxed)
            throw error
        }
        return true
    }
}
