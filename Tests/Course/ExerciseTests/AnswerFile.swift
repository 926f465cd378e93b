import Foundation
import Testing

@testable import Graders

/// An answer that tests the graders.
struct AnswerFile: Sendable, CustomTestStringConvertible {
    let exercise: Exercise
    /// `05/NSLock.swift`, also for an answer that is stored as edits.
    let path: String
    let source: String

    /// The answers that must be accepted: those of the package, and odd ones.
    static let right = all(in: answers) + all(in: tests.appending(path: "RightAnswers"))

    /// The answers that must be rejected, for the reason in their first line.
    static let wrong = all(in: tests.appending(path: "WrongAnswers"))

    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    private static let answers = Workbook.package.appending(path: "Exercises/Answers")

    /// The answers in a folder with a subfolder for each exercise, named by its number.
    private static func all(in folder: URL) -> [AnswerFile] {
        Exercise.all.flatMap { exercise in
            let folder = folder.appending(path: exercise.name.suffix(2))
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            return files.filter { $0.hasSuffix(".swift") || $0.hasSuffix(".edit") }.sorted().map {
                AnswerFile(exercise, folder.appending(path: $0))
            }
        }
    }

    private init(_ exercise: Exercise, _ file: URL) {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        self.exercise = exercise
        path = "\(exercise.name.suffix(2))/\(file.deletingPathExtension().lastPathComponent).swift"
        source = file.pathExtension == "edit" ? AnswerFile.edited(text, exercise) : text
    }

    /// A correct answer with some lines replaced. The line `Differs from:` names that answer, and
    /// the edits follow the line. The first line is kept.
    private static func edited(_ text: String, _ exercise: Exercise) -> String {
        guard let name = text.firstMatch(of: #/\n\/\/ Differs from: (.*)/#)?.1
        else { preconditionFailure("an edit says from which answer it differs: \(text)") }
        let base = answers.appending(path: "\(exercise.name.suffix(2))/\(name).swift")
        let source = (try? String(contentsOf: base, encoding: .utf8)) ?? ""
        guard let edited = Edits.applied(text, to: source) else {
            preconditionFailure("\(name) lacks lines of an edit: \(text)")
        }
        return text.prefix { $0 != "\n" } + "\n" + edited
    }

    /// The answer with this path, right or wrong.
    static func named(_ path: String) throws -> AnswerFile {
        try #require((right + wrong).first { $0.path == path }, "\(path)")
    }

    /// Writes the answer to a file, and grades it.
    func grade() throws -> Grade {
        try withFile { Grader.here.grade(exercise, $0) }
    }

    func withFile<Answer>(_ work: (URL) throws -> Answer) throws -> Answer {
        let folder = TemporaryFolder()
        // An answer may have the name of one of the grader's files.
        return try work(folder.write(source, to: "Promise.swift"))
    }

    /// The answer with a text in it replaced.
    func replacing(_ text: String, by other: String) throws -> String {
        try #require(source.contains(text))
        return source.replacing(text, with: other)
    }

    /// The rejection in the first line of a wrong answer: `R01 lost`.
    var rejection: String? {
        source.prefixMatch(of: #/\/\/ Rejected: (.*)/#).map { String($0.1) }
    }

    var testDescription: String { path }
}

/// A folder that is removed together with this object.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "test-\(UUID().uuidString)")

    init() {
        // Writing fails if there is no folder.
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    }

    /// Also makes the folders around the file.
    @discardableResult
    func write(_ text: String, to path: String) throws -> URL {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file
    }
}

extension Grader {
    /// Uses the command that is built next to the tests.
    static let here = Grader(
        command: Bundle.main.executableURL!.deletingLastPathComponent()
            .appending(path: "promise-lab"))
}

extension Grade {
    /// In the form of ``AnswerFile/rejection``.
    var rejection: String {
        switch result {
        case .notAttempted: "not attempted"
        case .doesNotCompile: "does not compile"
        case .refused: "refused"
        case .passed: "passed"
        case .failed(let failure): "\(unmet?.withoutProgram ?? "?") \(failure.reason)"
        case .unavailable(let why): "unavailable: \(why)"
        }
    }

    var failure: Failure? {
        if case .failed(let failure) = result { failure } else { nil }
    }

    /// Why it is not graded.
    var obstacle: String? {
        if case .unavailable(let why) = result { why } else { nil }
    }

    /// The complete message, for a test that fails.
    var explanation: String {
        switch result {
        case .doesNotCompile(let why), .refused(let why), .unavailable(let why): why
        case .failed(let failure): "\(failure.detail)\n\(failure.table?.text ?? "")"
        case .notAttempted, .passed: ""
        }
    }
}
