// The box office is a structure. The actor behind it only counts, and the sale visits it twice.

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = "AABB"
}

public struct BoxOffice: Sendable {
    private actor Seats {
        private(set) var free: Int

        init(_ free: Int) {
            self.free = free
        }

        func take() -> Bool {
            guard free > 0 else { return false }
            free -= 1
            return true
        }

        func giveBack() {
            free += 1
        }
    }

    private let seats: Seats

    public init(seats: Int) {
        self.seats = Seats(seats)
    }

    public var freeSeats: Int {
        get async { await seats.free }
    }

    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        guard await seats.take() else { return false }
        do {
            try await pay()
            return true
        } catch {
            await seats.giveBack()
            throw error
        }
    }
}
