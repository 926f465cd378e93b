import Foundation
import RaceLabTesting
import SharedSuite
import Testing

@testable import Graders

/// Trouble that is not the fault of an answer is described in a sentence, without the answer's
/// verdict.
@Suite("Trouble", .needsTheLabElsewhere)
struct TroubleTests {
    @Test("a file or folder that cannot be written is named, in words")
    func unwritable() throws {
        let temporary = TemporaryFolder()
        try temporary.write("let wrong: Int = true", to: "class/anna/Exercise05.swift")
        // A file cannot contain a folder or a file, whoever the user is.
        try temporary.write("", to: "file")
        let folder = temporary.url.path
        let grading = ["grade", "--submissions", "\(folder)/class", "--output"]
        for words in [
            grading + ["\(folder)/file/grades.csv"],
            grading + ["\(folder)/grades.csv", "--reports", "\(folder)/file/reports"],
        ] {
            let result = try Commands.promiseLab(words)
            #expect(result.status != 0)
            #expect(result.errors.contains("\(folder)/file/"), "\(result.errors)")
            let errors = result.errors.replacing("\n", with: " ")
            #expect(errors.contains("cannot be written"), "\(errors)")
            #expect(!result.errors.contains("Domain"), "\(result.errors)")
        }
    }

    @Test("a compiler that cannot write its cache is not the fault of an answer")
    func cache() throws {
        try AnswerFile.named("05/NSLock.swift").withFile { file in
            let output = try Commands.promiseLab(
                ["grade", "5", "--file", file.path],
                environment: [
                    "HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "NO_COLOR": "1",
                ]
            ).output
            #expect(output.contains("not graded"), "\(output)")
            #expect(output.contains("the compiler failed, and not because of the answer"))
        }
    }

    @Test(
        "what has the wrong type in a report is named as in the answer",
        arguments: [(1, "losesAHandler"), (12, "schedule"), (13, "schedule")])
    func wrongType(number: Int, name: String) throws {
        let exercise = Exercise.all[number - 1]
        let stub = exercise.stub()
        let wrong = stub.replacing(try Regex("\(name) = \".*\""), with: "\(name) = 5")
        #expect(wrong != stub)
        let folder = TemporaryFolder()
        let grade = Grader.here.grade(exercise, try folder.write(wrong, to: "Wrong.swift"))
        #expect(grade.rejection == "does not compile")
        #expect(grade.explanation.contains("\(name): String = "), "\(grade.explanation)")
        #expect(grade.explanation.contains("cannot convert value of type 'Int'"))
        #expect(!grade.explanation.contains("AnswerForGrading"))
    }

    @Test("what is shown about an answer that keys by identity is the same each time")
    func sameBytes() throws {
        let answer = try AnswerFile.named("11/KeyedByIdentity.swift")
        let grades = try (0..<3).map { _ in try answer.grade() }
        #expect(Set(grades.map { "\($0)" }).count == 1)
    }
}
