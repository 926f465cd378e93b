// Seats are numbers, in a list that belongs to a serial queue.

import Dispatch

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public final class BoxOffice: @unchecked Sendable {
    private let queue = DispatchQueue(label: "seats")
    private var seats: [Int]

    public var freeSeats: Int { queue.sync { seats.count } }

    public init(seats: Int) {
        self.seats = Array(0..<seats)
    }

    public func sell(_ pay: () async throws -> Void) async throws -> Bool {
        guard let seat = queue.sync(execute: { seats.popLast() }) else { return false }
        do {
            try await pay()
        } catch {
            queue.sync { seats.append(seat) }
            throw error
        }
        return true
    }
}
