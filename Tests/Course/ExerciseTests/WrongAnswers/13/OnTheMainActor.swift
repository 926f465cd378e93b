// Rejected: E13.11 over-synchronized
// All box offices share the main actor.

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

@MainActor
public final class BoxOffice {
    public private(set) var freeSeats: Int

    public nonisolated init(seats: Int) {
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
