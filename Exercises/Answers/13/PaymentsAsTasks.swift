// Each payment is a task of its own, which is cancelled together with the caller's.

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public actor BoxOffice {
    public private(set) var freeSeats: Int

    public init(seats: Int) {
        freeSeats = seats
    }

    public func sell(_ pay: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        guard freeSeats > 0 else { return false }
        freeSeats -= 1
        let payment = Task { try await pay() }
        let result = await withTaskCancellationHandler {
            await payment.result
        } onCancel: {
            payment.cancel()
        }
        if case .failure = result { freeSeats += 1 }
        try result.get()
        return true
    }
}
