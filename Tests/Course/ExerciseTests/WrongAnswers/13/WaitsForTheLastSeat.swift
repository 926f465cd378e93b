// Rejected: E13.7 over-synchronized
// A buyer waits until the payment of the last seat has succeeded or failed.

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public actor BoxOffice {
    public private(set) var freeSeats: Int
    private var payments = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    public init(seats: Int) {
        freeSeats = seats
    }

    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        while freeSeats == 0, payments > 0 {
            await withCheckedContinuation { waiting.append($0) }
        }
        guard freeSeats > 0 else { return false }
        freeSeats -= 1
        payments += 1
        defer {
            payments -= 1
            for buyer in waiting { buyer.resume() }
            waiting = []
        }
        do {
            try await pay()
        } catch {
            freeSeats += 1
            throw error
        }
        return true
    }
}
