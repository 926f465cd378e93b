/// Who has not been called yet, in order of registration.
///
/// A place on the list can be given up. It stays empty until half of the list
/// is, and then all empty places are removed in one go: giving up a place costs
/// the same on average, however long the list, and the list is never more than
/// twice as long as it needs to be.
struct WaitingList<Value: Sendable> {
    typealias Handler = AWPromise<Value>.Handler

    struct Place {
        fileprivate let number: Int
        /// `nil` once the place has been given up.
        fileprivate(set) var handler: Handler?
    }

    /// In order of their numbers, which are not used twice.
    private var places: [Place] = []
    private var nextNumber = 0
    private var emptyPlaces = 0

    var isEmpty: Bool { places.isEmpty }

    mutating func append(_ handler: @escaping Handler) -> Ticket {
        defer { nextNumber += 1 }
        places.append(Place(number: nextNumber, handler: handler))
        return Ticket(number: nextNumber)
    }

    mutating func takeAll() -> [Place] {
        defer { (places, emptyPlaces) = ([], 0) }
        return places
    }

    /// Returns the handler; `nil` if it has been taken, or withdrawn before.
    mutating func withdraw(_ ticket: Ticket) -> Handler? {
        let index = index(of: ticket)
        guard index < places.count, places[index].number == ticket.number,
            let handler = places[index].handler
        else { return nil }
        places[index].handler = nil
        emptyPlaces += 1
        if 2 * emptyPlaces > places.count {
            places.removeAll { $0.handler == nil }
            emptyPlaces = 0
        }
        return handler
    }

    /// Where the ticket's place is, if it is anywhere. (A binary search.)
    private func index(of ticket: Ticket) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].number < ticket.number {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}

/// Stands for a place on the waiting list of a promise.
struct Ticket: Sendable {
    fileprivate let number: Int
}
