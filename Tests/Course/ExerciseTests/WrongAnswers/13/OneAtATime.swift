// Rejected: E13.4 over-synchronized
// A semaphore made of continuations allows one sale at a time.

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public actor BoxOffice {
    public private(set) var freeSeats: Int
    private var isSelling = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    public init(seats: Int) {
        freeSeats = seats
    }

    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        if isSelling {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isSelling = true
        }
        defer {
            if waiting.isEmpty { isSelling = false } else { waiting.removeFirst().resume() }
        }
        guard freeSeats > 0 else { return false }
        try await pay()
        freeSeats -= 1
        return true
    }
}
