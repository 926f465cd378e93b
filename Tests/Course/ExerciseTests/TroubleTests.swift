import Foundation
import RaceLabTesting
import SharedSuite
import Testing

@testable import Graders

/// Trouble that is not the fault of an answer is described in a sentence, without the answer's
/// verdict.
@Suite("Trouble", .needsTheLabElsewhere)
struct TroubleTests {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "trouble-\(UUID().uuidString)")

    /// Runs the work in a folder that is removed afterwards, and that contains a submission.
    private func inFolder(_ work: (URL) throws -> Void) throws {
        let student = folder.appending(path: "class/anna")
        try FileManager.default.createDirectory(at: student, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try "let wrong: Int = true".write(
            to: student.appending(path: "Exercise05.swift"), atomically: true, encoding: .utf8)
        // A file cannot contain a folder or a file, whoever the user is.
        try "".write(to: folder.appending(path: "file"), atomically: true, encoding: .utf8)
        try work(folder)
    }

    @Test("a file or folder that cannot be written is named, in words")
    func unwritable() throws {
        try inFolder { folder in
            let grading = ["grade", "--submissions", "\(folder.path)/class", "--output"]
            for words in [
                grading + ["\(folder.path)/file/grades.csv"],
                grading + [
                    "\(folder.path)/grades.csv", "--reports", "\(folder.path)/file/reports",
                ],
            ] {
                let result = try Commands.promiseLab(words)
                #expect(result.status != 0)
                #expect(result.errors.contains("\(folder.path)/file/"), "\(result.errors)")
                let errors = result.errors.replacing("\n", with: " ")
                #expect(errors.contains("cannot be written"), "\(errors)")
                #expect(!result.errors.contains("Domain"), "\(result.errors)")
            }
        }
    }

    @Test("a compiler that cannot write its cache is not the fault of an answer")
    func cache() throws {
        let answer = try #require(AnswerFile.right.first { $0.path == "05/NSLock.swift" })
        try answer.withFile { file in
            let result = try Commands.promiseLab(
                ["grade", "5", "--file", file.path],
                environment: [
                    "HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "NO_COLOR": "1",
                ])
            #expect(result.output.contains("not graded"), "\(result.output)")
            #expect(
                result.output.contains("the compiler failed, and not because of the answer"),
                "\(result.output)")
        }
    }

    @Test(
        "what has the wrong type in a report is named as in the answer",
        arguments: [(1, "losesAHandler"), (12, "schedule"), (13, "schedule")])
    func wrongType(number: Int, name: String) throws {
        let exercise = Exercise.all[number - 1]
        let stub = try String(contentsOf: exercise.stub, encoding: .utf8)
        let wrong = stub.replacing(try Regex("\(name) = \".*\""), with: "\(name) = 5")
        #expect(wrong != stub)
        try inFolder { folder in
            let file = folder.appending(path: "Wrong.swift")
            try wrong.write(to: file, atomically: true, encoding: .utf8)
            let grade = Grader.here.grade(exercise, file)
            #expect(grade.rejection == "does not compile")
            #expect(grade.explanation.contains("\(name): String = "), "\(grade.explanation)")
            #expect(grade.explanation.contains("cannot convert value of type 'Int'"))
            #expect(!grade.explanation.contains("AnswerForGrading"))
        }
    }

    @Test("what is shown about an answer that keys by identity is the same each time")
    func sameBytes() throws {
        let answer = try #require(AnswerFile.right.first { $0.path == "11/KeyedByIdentity.swift" })
        let grades = try (0..<3).map { _ in try answer.grade() }
        #expect(Set(grades.map { "\($0)" }).count == 1)
    }
}
