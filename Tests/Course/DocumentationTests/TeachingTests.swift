import Foundation
import Graders
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

/// Everything that the teacher's page names exists.
@Suite("Teaching", .needsTheLabElsewhere)
struct TeachingTests {
    private static let page = "Exercises/TEACHING.md"

    private static func text() throws -> String {
        try String(contentsOf: Commands.package.appending(path: page), encoding: .utf8)
    }

    @Test("every path, hazard, exercise and command that is named exists")
    func names() throws {
        var check = TutorialCheck(try Self.text(), .thisPackage)
        check.checkNames(
            hazards: Catalogue.all.map(\.id), exercises: Exercise.all.map(\.number),
            commands: TutorialTests.commands(), tests: "ExerciseTests")
        for complaint in check.complaints {
            Issue.record("\(Self.page):\(complaint.line): \(complaint.what)")
        }
    }

    @Test("every exercise is in the plan or among the beliefs")
    func complete() throws {
        let numbers = try Self.text().matches(of: /\b\d+\b/).compactMap { Int($0.0) }
        for exercise in Exercise.all { #expect(numbers.contains(exercise.number)) }
    }

    @Test("the documented limits are those of the grader")
    func limits() throws {
        let text = try Self.text()
        #expect(text.contains("(\(Limits().seconds) seconds)"))
    }
}
