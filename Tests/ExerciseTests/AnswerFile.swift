import Foundation
import Graders
import Testing

/// An answer that is kept to grade the graders.
struct AnswerFile: Sendable, CustomTestStringConvertible {
    let exercise: Exercise
    let file: URL

    /// Those that have to be accepted.
    static let right = all(in: Workbook.package.appending(path: "Exercises/Answers"))

    /// Those that have to be rejected, for the reason that their first line gives.
    static let wrong = all(
        in: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "WrongAnswers"))

    /// In a folder for each exercise, named by its number.
    private static func all(in folder: URL) -> [AnswerFile] {
        Exercise.all.flatMap { exercise in
            let folder = folder.appending(path: exercise.name.suffix(2))
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            return files.filter { $0.hasSuffix(".swift") }.sorted().map {
                AnswerFile(exercise: exercise, file: folder.appending(path: $0))
            }
        }
    }

    var source: String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }

    /// What the first line says of a wrong answer: `R01 lost`.
    var rejection: String? {
        let mark = "// Rejected: "
        let line = source.prefix { $0 != "\n" }
        return line.hasPrefix(mark) ? String(line.dropFirst(mark.count)) : nil
    }

    var testDescription: String {
        "\(exercise.number) \(file.deletingPathExtension().lastPathComponent)"
    }
}

extension Grader {
    /// With the command that stands beside the tests.
    static let here = Grader(
        command: Bundle.main.executableURL!.deletingLastPathComponent()
            .appending(path: "promise-lab"))
}

extension Grade {
    /// As ``AnswerFile/rejection`` puts it.
    var rejection: String {
        switch result {
        case .notAttempted: "not attempted"
        case .doesNotCompile: "does not compile"
        case .refused: "refused"
        case .passed: "passed"
        case .failed(let failure): "\(unmet ?? "?") \(failure.reason)"
        case .unavailable(let why): "unavailable: \(why)"
        }
    }

    /// All of it, for when a test has something to say.
    var explanation: String {
        switch result {
        case .doesNotCompile(let why), .refused(let why), .unavailable(let why): why
        case .failed(let failure): "\(failure.detail)\n\(failure.table ?? "")"
        case .notAttempted, .passed: ""
        }
    }
}
