import RaceLab
import RaceLabTesting
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

@Suite("Classics", .needsTheLab)
struct ClassicsTests {
    @Test("has its known result", arguments: Classic.all)
    func result(of classic: Classic) {
        let exploration = classic.exploration()
        #expect(exploration.inconclusive == nil)
        #expect(exploration.coverage == .all)
        let kind = exploration.findings.first?.kind
        #expect((kind.map { .fails($0) } ?? .survives) == classic.expected, "\(exploration.text())")
    }

    @Test("all names are different")
    func names() {
        #expect(Set(Classic.all.map(\.name)).count == Classic.all.count)
    }
}
