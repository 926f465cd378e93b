// Exercise 13 · Sell each seat once
//
// A box office sells the seats of a theater. It is an actor, so there is no data race, and the
// compiler accepts it. But Anna and Ben can both pay for the last seat, and both get it.
//
// 1. Find an interleaving in which that happens, and write it into the report as a schedule, as in
//    exercise 1: A is Anna's next step, and B is Ben's. A step is an arrival at the actor, an
//    access to a property, or a payment. After the last letter the tasks run to their ends.
// 2. Repair the box office:
//
// - `sell` returns `true` if the caller has paid and has a seat, and `false` if no seat is free.
//   A caller that gets no seat does not pay, and no caller pays twice.
// - A seat that is being paid for is not free. If `pay` throws, `sell` throws the same error, and
//   the seat is free again.
// - Only `pay` asks whether the caller's task is cancelled. It may throw, or go on. If it goes on to
//   its end, the caller has paid, and has the seat.
// - A payment may take a long time, and no task waits for the payment of another one. Meanwhile
//   others pay for other seats, read `freeSeats`, and are refused at once if no seat is free.
// - Two box offices are independent: a task at one never waits for a task at the other.
//
// The report is checked on the original class, and yours is explored with two tasks or three. Its
// name and interface stay as they are; the rest is up to you, even whether it is an actor.
//
// Grade it with: swift run promise-lab grade 13

public enum Report {
    /// There is one seat. The interleaving in which both have it, in the letters A and B.
    public static let schedule = ""
}

public actor BoxOffice {
    public private(set) var freeSeats: Int

    public init(seats: Int) {
        freeSeats = seats
    }

    /// Sells one seat, if there is one.
    ///
    /// - Parameter pay: takes the money; throws if that fails.
    /// - Returns: whether the caller has a seat.
    public func sell(_ pay: @Sendable () async throws -> Void) async throws -> Bool {
        guard freeSeats > 0 else { return false }
        try await pay()
        freeSeats -= 1
        return true
    }
}
