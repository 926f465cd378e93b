// A class with a lock, which is not held during the payment.

import Synchronization

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public final class BoxOffice: Sendable {
    private let free: Mutex<Int>

    public var freeSeats: Int { free.withLock { $0 } }

    public init(seats: Int) {
        free = Mutex(seats)
    }

    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        let hasSeat = free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
        guard hasSeat else { return false }
        do {
            try await pay()
        } catch {
            free.withLock { $0 += 1 }
            throw error
        }
        return true
    }
}
