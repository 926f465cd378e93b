import RaceLabTesting
import SharedSuite
import Testing

/// The output of `swift test --filter Stage1Naive`.
@Suite("The listing of a stage's tests", .needsTheLabElsewhere)
struct StageListingTests {
    @Test("a row that the stage cannot express is skipped with a reason, and does not pass")
    func skippedRows() throws {
        let result = try #require(try Commands.run(documented: "swift test --filter Stage1Naive"))
        #expect(result.status == 0)
        for hazard in Catalogue.all {
            let name = "\(hazard.id) · \(hazard.name)"
            let lines = result.lines.filter { $0.dropFirst(2).hasPrefix(name) }
            let line = try #require(lines.count == 1 ? lines[0] : nil, "\(lines)")
            switch hazard.expectation(on: .naive) {
            case .survives: #expect(line == "✔ \(name)")
            case .fails(let first, _):
                #expect(line.hasPrefix("━ \(name): ") && line.contains(first.rawValue))
            case .cannotExpress(let why): #expect(line == "➜ \(name): skipped: \(why)")
            }
        }
    }
}
