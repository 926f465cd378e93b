import Models
import RaceLab

extension LitmusProgram {
    /// The program for the lab.
    func describe(_ scenario: Scenario) {
        let variables = LitmusOperation.Place.allCases.map { _ in OrderedAtomic() }
        let page = Counter()
        let seen = threads.map { _ in Values() }
        for (number, operations) in threads.enumerated() {
            scenario.thread("\(number)") {
                var isSkipped = false
                for operation in operations {
                    if case .onlyIf(let value) = operation {
                        isSkipped = seen[number].all.last != value
                    } else if isSkipped {
                        isSkipped = false
                    } else if let value = operation.carryOut(variables, page) {
                        seen[number].all.append(value)
                    }
                }
            }
        }
        scenario.outcome {
            LitmusProgram.outcome(
                read: seen.map(\.all),
                last: places.map { ($0, variables[$0.rawValue].load(.sequentiallyConsistent)) })
        }
    }

    private final class Values {
        var all: [Int] = []
    }
}

extension LitmusOperation {
    /// Returns the value that it has read from an atomic variable.
    fileprivate func carryOut(_ variables: [OrderedAtomic], _ page: Counter) -> Int? {
        switch self {
        case .load(let place, let ordering): return variables[place.rawValue].load(ordering)
        case .store(let place, let value, let ordering):
            variables[place.rawValue].store(value, ordering)
        case .exchange(let place, let value, let ordering):
            return variables[place.rawValue].exchange(value, ordering)
        case .compareExchange(let place, let expected, let desired, let ordering, let failing):
            return variables[place.rawValue]
                .replace(expected, desired, ordering, failing)
        case .fence(let ordering): ordering.fence()
        case .write: page.value = 1
        case .read: _ = page.value
        case .onlyIf: break
        }
        return nil
    }
}
