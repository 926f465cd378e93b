// The sale visits the actor twice, and pays outside of it.

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public actor BoxOffice {
    public private(set) var freeSeats: Int

    public init(seats: Int) {
        freeSeats = seats
    }

    private func reserve() -> Bool {
        guard freeSeats > 0 else { return false }
        freeSeats -= 1
        return true
    }

    private func giveBack() {
        freeSeats += 1
    }

    public nonisolated func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        guard await reserve() else { return false }
        do {
            try await pay()
            return true
        } catch {
            await giveBack()
            throw error
        }
    }
}
