// Rejected: E13.2 called under a lock
// The lock that makes the check and the act one critical section is held during the payment.

import Foundation

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public final class BoxOffice: @unchecked Sendable {
    private let lock = NSLock()
    private let count = NSLock()
    private var free: Int

    public var freeSeats: Int { count.withLock { free } }

    public init(seats: Int) {
        free = seats
    }

    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard freeSeats > 0 else { return false }
        try await pay()
        count.withLock { free -= 1 }
        return true
    }
}
