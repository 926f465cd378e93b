import Foundation
import Graders
import RaceLabTesting
import Testing

/// Exercise 12: each variant has a bug that needs several threads.
@Suite("Variants of the bug hunt", .needsTheLabElsewhere)
struct VariantTests {
    static let bugs = [
        (variant: 1, reason: "lost"), (variant: 2, reason: "settles twice"),
        (variant: 3, reason: "lost"), (variant: 4, reason: "out of order"),
        (variant: 5, reason: "data race"),
    ]

    private let exercise = Exercise.all[11]

    @Test("every variant has a documented bug")
    func complete() {
        #expect(Self.bugs.map(\.variant) == Array(1...exercise.variants))
    }

    @Test(
        "a variant that is reported but not fixed passes on one thread, and fails a race",
        arguments: bugs)
    func bug(variant: Int, reason: String) throws {
        // The report of the answer that fixes it, on the original class.
        let answer = try #require(
            AnswerFile.right.first {
                $0.exercise.number == 12 && $0.source.contains("variant = \(variant)\n")
            })
        let report = try #require(answer.source.firstMatch(of: #/public enum BugReport[^}]*}/#)).0
        let stub = exercise.stub(variant: variant)
        let original = try #require(stub.firstMatch(of: #/public enum BugReport[^}]*}/#)).0
        let folder = TemporaryFolder()
        let file = try folder.write(stub.replacing(original, with: report), to: "Variant.swift")
        let grade = Grader.here.grade(exercise, file)
        #expect(grade.rejection == "E12.5 \(reason)", "\(grade.explanation)")
        #expect(grade.met.contains { $0.id == "E12.1" })
    }
}
