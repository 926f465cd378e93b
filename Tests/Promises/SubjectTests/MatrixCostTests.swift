import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

/// The number of runs that the lab needs to explore the races of the matrix.
@Suite("The cost of the matrix", .needsTheLab)
struct MatrixCostTests {
    @Test("at most 1.2 runs for each interleaving of threads that is reported")
    func threads() {
        let (explored, redundant) = Self.cost(
            of: Catalogue.races.filter { !($0 is any BridgeRace) })
        #expect(explored > 1_000)
        #expect(Double(explored + redundant) <= 1.2 * Double(explored))
    }

    @Test("at most 1.2 runs for each interleaving of tasks that is reported")
    func tasks() {
        let (explored, redundant) = Self.cost(of: Catalogue.races.filter { $0 is any BridgeRace })
        #expect((explored > 100) == (unavailableTasks == nil))
        #expect(Double(explored + redundant) <= 1.2 * Double(explored))
    }

    private static func cost(of races: [any Race]) -> (explored: Int, redundant: Int) {
        var (explored, redundant) = (0, 0)
        for race in races {
            for stage in Subject.all(.stage) {
                if case .cannotExpress = race.expectation(on: stage) { continue }
                let exploration = race.exploration(on: stage)
                explored += exploration.explored
                redundant += exploration.redundant
            }
        }
        return (explored, redundant)
    }
}
