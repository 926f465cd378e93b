// Rejected: E13.7 over-synchronized
// Reading the number of free seats waits for the payments.

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public actor BoxOffice {
    private var free: Int
    private var payments = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    public var freeSeats: Int {
        get async {
            while payments > 0 { await withCheckedContinuation { waiting.append($0) } }
            return free
        }
    }

    public init(seats: Int) {
        free = seats
    }

    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        guard free > 0 else { return false }
        free -= 1
        payments += 1
        defer {
            payments -= 1
            for reader in waiting { reader.resume() }
            waiting = []
        }
        do {
            try await pay()
        } catch {
            free += 1
            throw error
        }
        return true
    }
}
