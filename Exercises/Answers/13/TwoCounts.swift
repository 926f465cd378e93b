// Seats that are sold, and seats that are being paid for, are counted separately.

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public actor BoxOffice {
    private let seats: Int
    private var (sold, inPayment) = (0, 0)

    public var freeSeats: Int { seats - sold - inPayment }

    public init(seats: Int) {
        self.seats = seats
    }

    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        guard freeSeats > 0 else { return false }
        inPayment += 1
        defer { inPayment -= 1 }
        try await pay()
        sold += 1
        return true
    }
}
