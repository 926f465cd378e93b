import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

/// How many runs the lab makes to explore the races of the matrix.
@Suite("The cost of the matrix", .needsTheLab)
struct MatrixCostTests {
    @Test("at most 1.2 runs for each interleaving that is reported")
    func runs() {
        var (explored, redundant) = (0, 0)
        for case let race as any Race in Catalogue.all {
            for stage in Subject.all(.stage) {
                if case .cannotExpress = race.expectation(on: stage) { continue }
                let report = race.report(on: stage)
                explored += report.explored
                redundant += report.redundant
            }
        }
        #expect(explored > 1_000)
        #expect(Double(explored + redundant) <= 1.2 * Double(explored))
    }
}
