import RaceLab
import Testing

/// A scenario whose result is known: from the literature, or because it can be counted by hand.
struct Classic: Sendable, CustomTestStringConvertible {
    enum Result: Equatable {
        case survives
        /// Its most telling finding.
        case fails(Exploration.Finding.Kind)
    }

    let name: String
    let expected: Result
    let describe: @Sendable (Scenario) -> Void

    init(
        _ name: String, _ expected: Result, _ describe: @escaping @Sendable (Scenario) -> Void
    ) {
        self.name = name
        self.expected = expected
        self.describe = describe
    }

    var testDescription: String { name }

    /// Counts every interleaving unless the options say otherwise, because the known numbers do.
    func exploration(_ change: (inout Exploration.Options) -> Void = { _ in }) -> Exploration {
        var options = Exploration.Options.everyOrder
        change(&options)
        return explore(options: options, describe)
    }

    static let all =
        counters + buffers + hazardPointers + messages + lazies + countdowns + petersons + dekkers
        + tickets + spinlocks + readersWriters + philosophers + stacks + boundedBuffers + recipes
        + found

    static func named(_ name: String) -> Classic? {
        all.first { $0.name == name }
    }
}
