// Rejected: E13.4 over-synchronized
// A sale polls until the previous sale has ended.

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public actor BoxOffice {
    public private(set) var freeSeats: Int
    private var isSelling = false

    public init(seats: Int) {
        freeSeats = seats
    }

    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        while isSelling { await Task.yield() }
        isSelling = true
        defer { isSelling = false }
        guard freeSeats > 0 else { return false }
        try await pay()
        freeSeats -= 1
        return true
    }
}
