import Foundation
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

@testable import Graders

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
        let text = try Self.text().replacing(/\s+/, with: " ")
        let format = NumberFormatter()
        format.locale = Locale(identifier: "en_US")
        format.numberStyle = .decimal
        func number(_ value: Int) throws -> String {
            try #require(format.string(from: NSNumber(value: value)))
        }
        let attempts = try #require(
            Exercise.all.flatMap(\.requirements).first { $0.id == "E10.3" }?.name
                .split(separator: " ").first.flatMap { Int($0) })
        let documented = [
            "(\(Limits().seconds) seconds)",
            "in at most \(try number(Programs.runsOfOne)) runs",
            "use up \(try number(Programs.runsOfAll)) together, but never below "
                + "\(Programs.share(of: 0, among: .max)).",
            "exercise 13, the limit is at most "
                + "\(try number(Requirement.maximumInterleavings)).",
            "up to \(try number(Bounds.many)) handlers or seats, \(try number(Bounds.squared)) "
                + "observers or promises to wait for, and \(try number(attempts)) attempts.",
            "sources of more than \(SourceText.maximumBytes >> 10) KB.",
        ]
        for words in documented { #expect(text.contains(words), "\(words)") }
    }
}
