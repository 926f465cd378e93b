// Rejected: E13.4 over-synchronized
// A semaphore of Dispatch is held during the payment.

import Dispatch

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public final class BoxOffice: @unchecked Sendable {
    private let sale = DispatchSemaphore(value: 1)
    private let count = DispatchQueue(label: "count")
    private var free: Int

    public var freeSeats: Int { count.sync { free } }

    public init(seats: Int) {
        free = seats
    }

    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        sale.wait()
        defer { sale.signal() }
        guard freeSeats > 0 else { return false }
        try await pay()
        count.sync { free -= 1 }
        return true
    }
}
