import Foundation
import Graders
import RaceLabTesting
import SharedSuite
import Testing

/// Thirty submissions, most of them hostile, graded in one run.
extension ClassTests {
    /// An answer, and the beginning of its cell in the sheet.
    private typealias Submission = (source: String, cell: String)

    private func kept(_ path: String) throws -> String { try AnswerFile.named(path).source }

    /// Answers that do not end, or that end the process.
    private func ending() throws -> [Submission] {
        let recursion =
            "func deeper(_ n: Int) -> Int { n < 0 ? 0 : 1 + deeper(n + 1) }; _ = deeper(1)"
        let hunger =
            "var all: [[Int]] = []; while true { all.append([Int](repeating: 1, count: 1 << 20)) }"
        return [
            (try answer("while true {}"), "E05.1 no end"),
            // As the lab does where the limit on memory leaves no room for a thread.
            (
                try answer("fatalError(\"\\nRaceLab could not start a thread: no memory\")"),
                "not graded"
            ),
            (try answer("pthread_kill(pthread_self(), SIGSTOP)"), "E05.1 no end"),
            (try answer("DispatchSemaphore(value: 0).wait()"), "E05.1 deadlock"),
            (try answer("fatalError(\"on purpose\")"), "E05.1 crash"),
            (
                try answer("UnsafeMutablePointer<Int>(bitPattern: 8)!.pointee = 1"), "E05.1 crash"
            ),
            (try answer(recursion), "E05.1 crash"),
            (try answer(hunger), "E05.1 crash"),
            (try answer("while true { print(\"more\") }"), "E05.1 too much output"),
            (try answer("pthread_kill(pthread_self(), SIGKILL)"), "E05.1 killed"),
        ]
    }

    /// Answers that start processes, forge verdicts, or run code when they are loaded.
    private func cheating() throws -> [Submission] {
        // Only files: without descriptors of its own, Dispatch would crash now and then.
        let close =
            "var status = stat(); for file in Int32(3)..<64 where fstat(file, &status) == 0 "
            + "&& status.st_mode & S_IFMT == S_IFREG { close(file) }"
        return [
            (try answer("_ = fork()"), "not accepted: line"),
            (try answer("system(\"sleep 1000 &\")"), "not accepted: line"),
            (
                try answer("var words = wordexp_t(); wordexp(\"$(sleep 1000 &)\", &words, 0)"),
                "not accepted: line"
            ),
            (try answer("exit(0)"), "not accepted: line"),
            (try answer(#"_ = "\(")")"; exit(0)"#), "not accepted: line"),
            (
                try answer() + "\n@section(\".init_array\") let early = 1\n", "not accepted: line"
            ),
            ("import Glibc\n" + (try answer()), "not accepted: line"),
            (try kept("05/ForgesVerdicts.swift"), "E05.1 forged"),
            (try answer(close), "E05.1 no verdict"),
        ]
    }

    /// Files that cannot be compiled, or are not an answer.
    private func unfit() throws -> [Submission] {
        let depth = 6_000
        let nested =
            String(repeating: "\"\\(", count: depth) + "1" + String(repeating: ")\"", count: depth)
        return [
            (try answer("let x: Int = \"no number\""), "does not compile"),
            (try answer("_ = \(nested)"), "does not compile"),
            ("", "does not compile"),
            (
                String(repeating: "// as long as that\n", count: 50_000), "not accepted: it is"
            ),
            (Exercise(number: 5)!.stub(), "not attempted"),
        ]
    }

    /// Correct answers, and wrong answers that are not hostile.
    private func honest() throws -> [Submission] {
        [
            (try kept("05/NSLock.swift"), "passed"),
            (try kept("05/Mutex.swift"), "passed"),
            (try kept("05/SerialQueue.swift"), "passed"),
            (try kept("05/LockFree.swift"), "passed"),
            (try kept("05/CheckOutsideTheLock.swift"), "E05.4 lost"),
            (try kept("05/OneGlobalLock.swift"), "E05.8 over-synchronized"),
        ]
    }

    @Test("thirty submissions: the table is right, and no file or process remains")
    func thirty() throws {
        let submissions = try ending() + cheating() + unfit() + honest()
        try #require(submissions.count == 30)
        let submitted = try TemporaryFolder()
        for (index, submission) in submissions.enumerated() {
            try submitted.add("student \(index + 10)", submission.source)
        }
        let temporary = try TemporaryFolder()
        let folder = submitted.url.path
        let result = try Commands.promiseLab(
            [
                "grade", "--submissions", folder, "--output", "\(folder)/grades.csv",
                "--seconds", "1", "--megabytes", "512",
            ], environment: ["NO_COLOR": "1", "TMPDIR": temporary.url.path])
        #expect(result.status == 0, "\(result.errors)")
        let none = "0 of \(Exercise.all.count) passed"
        #expect(result.output.contains(try Regex("student \\d+ +\(none); 5 does not compile\n")))
        #expect(result.output.contains(try Regex("student \\d+ +\(none)\n")))
        let rows = try rows(submitted)
        for (index, submission) in submissions.enumerated() {
            let cell = (rows["student \(index + 10)"] ?? "no row").drop { $0 == "\"" }
                .replacing(#/\/\d+/#, with: "", maxReplacements: 1)
            #expect(cell.hasPrefix(submission.cell), "student \(index + 10): \(cell)")
        }
        #expect(temporary.names == [])
        #expect(processes(with: temporary.url.path) == [])
    }

    /// Processes with this word in their environment. (On Linux only.)
    private func processes(with word: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.filter { name in
            let file = try? FileHandle(forReadingFrom: URL(filePath: "/proc/\(name)/environ"))
            guard let environment = try? file?.readToEnd() else { return false }
            return String(decoding: environment, as: UTF8.self).contains(word)
        }
    }
}
