// Rejected: E13.10 data race
// The number of free seats is not isolated to the actor that changes it.

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public actor BoxOffice {
    public nonisolated(unsafe) private(set) var freeSeats: Int

    public init(seats: Int) {
        freeSeats = seats
    }

    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        guard freeSeats > 0 else { return false }
        freeSeats -= 1
        do {
            try await pay()
        } catch {
            freeSeats += 1
            throw error
        }
        return true
    }
}
