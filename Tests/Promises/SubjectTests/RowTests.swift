import RaceLab
import RaceLabTesting
import SharedSuite
import Stage1Naive
import Testing

/// The rows are complete, and the right ones are skipped.
@Suite("The list of rows")
struct RowTests {
    @Test("every subject has a function, and every hazard a row", arguments: Subject.all)
    func complete(_ subject: Subject) throws {
        let source = try String(contentsOfFile: Self.listOfSubjects, encoding: .utf8)
        #expect(source.contains("func \(subject.name)(_ row: Row)"))
        let rows = Row.all(on: subject).map(\.testDescription)
        #expect(rows.starts(with: Catalogue.all.map { "\($0.id) · \($0.name)" }))
    }

    private static let listOfSubjects =
        #filePath.replacing("RowTests.swift", with: "SubjectTests.swift")

    @Test("exactly the skipped rows have the verdict 'cannot be expressed'")
    func skipped() {
        for subject in Subject.all {
            for row in Row.all(on: subject) {
                guard case .hazard(let hazard) = row.check, !(hazard is any Race),
                    !(hazard is any LongChainHazard)
                else { continue }
                let verdict = hazard.run(on: subject)
                let isSkipped = row.reasonToSkip != nil
                if case .cannotExpress(let why) = verdict {
                    #expect(row.reasonToSkip == why, "\(row) on \(subject)")
                } else {
                    #expect(!isSkipped, "\(row) on \(subject)")
                }
            }
        }
    }

    @Test("a row is not skipped just because its subject would fail it", .needsTheLab)
    func needed() {
        for subject in Subject.all {
            for hazard in Catalogue.all {
                guard case .cannotExpress(let why) = hazard.expectation(on: subject) else {
                    continue
                }
                switch hazard.obstacle(on: subject) {
                case let missing?: #expect(why == missing)
                case nil:
                    // The type could run it, but fails for another reason because it has one slot.
                    #expect(subject == .naive && why == "has room for one handler")
                    let verdict = hazard.run(onType: Stage1Naive.AWPromise<Int>.self)
                    guard case .fails = verdict else {
                        Issue.record("\(hazard.id) on \(subject): \(verdict)")
                        continue
                    }
                }
            }
        }
    }

    @Test(
        "more cases of Promises/A+ than the 103 of the largest port known",
        arguments: Subject.all.filter(\.isTriedOnAPlus))
    func enoughCases(_ subject: Subject) {
        let results = APlusClause.allCases.flatMap { $0.results(on: subject) }
        #expect(Set(results.map(\.name)).count > 103)
    }
}
