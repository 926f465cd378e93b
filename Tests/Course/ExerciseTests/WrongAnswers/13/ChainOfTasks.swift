// Rejected: E13.4 over-synchronized
// Each sale is a task that waits for the previous sale.

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public actor BoxOffice {
    public private(set) var freeSeats: Int
    private var last: Task<Bool, any Error>?

    public init(seats: Int) {
        freeSeats = seats
    }

    public func sell(_ pay: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        let previous = last
        let sale = Task {
            _ = await previous?.result
            return try await self.sellAlone(pay)
        }
        last = sale
        return try await withTaskCancellationHandler {
            try await sale.value
        } onCancel: {
            sale.cancel()
        }
    }

    private func sellAlone(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        guard freeSeats > 0 else { return false }
        try await pay()
        freeSeats -= 1
        return true
    }
}
