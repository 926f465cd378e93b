/// An operation of a thread in a litmus program: a few threads without loops, whose outcomes tell
/// what a memory model allows.
package enum LitmusOperation: Hashable {
    /// An atomic variable. All begin with the value 0.
    package enum Place: Int, CaseIterable { case x, y, z }

    case load(Place, MemoryOrdering)
    case store(Place, Int, MemoryOrdering)
    case exchange(Place, Int, MemoryOrdering)
    /// The ordering of a failure is not stronger than that of the success: the compiler would
    /// strengthen the success.
    case compareExchange(
        Place, from: Int, to: Int, MemoryOrdering, failing: MemoryOrdering = .relaxed)
    case fence(MemoryOrdering)
    /// Accesses to one variable that is not atomic.
    case write, read
    /// The next operation is made only if the last value that the thread has read is this one.
    case onlyIf(Int)
}

package struct LitmusProgram {
    package let threads: [[LitmusOperation]]

    package init(_ threads: [LitmusOperation]...) { self.threads = threads }

    package init(threads: [[LitmusOperation]]) { self.threads = threads }

    package var places: [LitmusOperation.Place] {
        LitmusOperation.Place.allCases.filter { place in
            threads.joined().contains { $0.place == place }
        }
    }

    /// What each thread has read, and the last value of each variable: `0 1 | 1: x1 y2`.
    package static func outcome(
        read: [[Int]], last: [(place: LitmusOperation.Place, value: Int)]
    ) -> String {
        read.map { $0.map(String.init).joined(separator: " ") }.joined(separator: " | ") + ":"
            + last.map { " \($0.place)\($0.value)" }.joined()
    }
}

extension LitmusOperation {
    package var place: Place? {
        switch self {
        case .load(let place, _), .store(let place, _, _), .exchange(let place, _, _),
            .compareExchange(let place, _, _, _, _):
            place
        case .fence, .write, .read, .onlyIf: nil
        }
    }
}

// MARK: - Random programs

extension LitmusProgram: CustomStringConvertible {
    /// A program on two variables, with up to four operations in a thread and eight in all. The
    /// same seed gives the same program on every machine.
    package init(seed: UInt64, threads count: Int, orderings: [MemoryOrdering] = .all) {
        var numbers = RandomNumbers(seed: seed)
        func ordering(_ allowed: [MemoryOrdering]) -> MemoryOrdering {
            let possible = allowed.filter(orderings.contains)
            return possible[numbers.below(UInt64(possible.count))]
        }
        func operations() -> [LitmusOperation] {
            let place: LitmusOperation.Place = numbers.isOneOf(2) ? .x : .y
            let value = 1 + numbers.below(2)
            switch numbers.below(14) {
            case 0...3: return [.load(place, ordering(.ofLoads))]
            case 4...7: return [.store(place, value, ordering(.ofStores))]
            case 8: return [.exchange(place, value, ordering(.all))]
            case 9:
                let success = ordering(.all)
                let failing = [MemoryOrdering].ofLoads.filter(orderings.contains).filter {
                    $0 == .relaxed || $0 == success || $0 == .acquiring && success.acquires
                }
                let index = numbers.below(UInt64(failing.count))
                return [
                    .compareExchange(
                        place, from: numbers.below(2), to: value, success, failing: failing[index])
                ]
            case 10, 11: return [.fence(ordering(.ofFences))]
            case 12: return [numbers.isOneOf(2) ? .write : .read]
            default:
                return [
                    .load(place, ordering(.ofLoads)), .onlyIf(1),
                    numbers.isOneOf(2) ? .write : .read,
                ]
            }
        }
        let size = count == 2 ? 4 : 3
        threads = (0..<count).map { thread in
            var made: [LitmusOperation] = []
            // Of three threads, the last one is shorter: eight operations in all.
            let wanted = count == 3 && thread == 2 ? 2 : size
            while made.count < wanted { made += operations() }
            return made
        }
    }

    package var description: String {
        threads.map { "\($0)" }.joined(separator: "\n")
            .replacing("Models.", with: "").replacing("LitmusOperation.", with: "")
            .replacing("MemoryOrdering.", with: "")
    }
}
