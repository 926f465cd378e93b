import Foundation
import Graders
import RaceLabTesting
import SharedSuite
import Testing

/// Thirty submissions, most of them hostile, graded in one run.
extension ClassTests {
    /// An answer, and the beginning of its cell in the sheet.
    private typealias Submission = (source: String, cell: String)

    private func kept(_ submissions: [Submission]) throws -> [Submission] {
        try submissions.map { (try AnswerFile.named("05/\($0).swift").source, $1) }
    }

    private func with(mischief submissions: [Submission]) throws -> [Submission] {
        try submissions.map { (try answer($0), $1) }
    }

    /// Answers that do not end, or that end the process.
    private func ending() throws -> [Submission] {
        let recursion =
            "func deeper(_ n: Int) -> Int { n < 0 ? 0 : 1 + deeper(n + 1) }; _ = deeper(1)"
        let hunger =
            "var all: [[Int]] = []; while true { all.append([Int](repeating: 1, count: 1 << 20)) }"
        return try with(mischief: [
            ("while true {}", "E05.1 no end"),
            // As the lab does where the limit on memory leaves no room for a thread.
            ("fatalError(\"\\nRaceLab could not start a thread: no memory\")", "not graded"),
            ("pthread_kill(pthread_self(), SIGSTOP)", "E05.1 no end"),
            ("DispatchSemaphore(value: 0).wait()", "E05.1 deadlock"),
            ("fatalError(\"on purpose\")", "E05.1 crash"),
            ("UnsafeMutablePointer<Int>(bitPattern: 8)!.pointee = 1", "E05.1 crash"),
            (recursion, "E05.1 crash"),
            (hunger, "E05.1 crash"),
            ("while true { print(\"more\") }", "E05.1 too much output"),
            ("pthread_kill(pthread_self(), SIGKILL)", "E05.1 killed"),
        ])
    }

    /// Answers that start processes, forge verdicts, or run code when they are loaded.
    private func cheating() throws -> [Submission] {
        // Only files: without descriptors of its own, Dispatch would crash now and then.
        let close =
            "var status = stat(); for file in Int32(3)..<64 where fstat(file, &status) == 0 "
            + "&& status.st_mode & S_IFMT == S_IFREG { close(file) }"
        let answers = try with(mischief: [
            ("_ = fork()", "not accepted: line"),
            ("system(\"sleep 1000 &\")", "not accepted: line"),
            ("var w = wordexp_t(); wordexp(\"$(sleep 1000 &)\", &w, 0)", "not accepted: line"),
            ("exit(0)", "not accepted: line"),
            (#"_ = "\(")")"; exit(0)"#, "not accepted: line"),
            (close, "E05.1 no verdict"),
        ])
        let early = try answer() + "\n@section(\".init_array\") let early = 1\n"
        return try answers + kept([("ForgesVerdicts", "E05.1 forged")]) + [
            (early, "not accepted: line"), ("import Glibc\n" + answer(), "not accepted: line"),
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
            (String(repeating: "// as long as that\n", count: 50_000), "not accepted: it is"),
            (Exercise(number: 5)!.stub(), "not attempted"),
        ]
    }

    /// Correct answers, and wrong answers that are not hostile.
    private func honest() throws -> [Submission] {
        try kept([
            ("NSLock", "passed"), ("Mutex", "passed"), ("SerialQueue", "passed"),
            ("LockFree", "passed"), ("CheckOutsideTheLock", "E05.4 lost"),
            ("OneGlobalLock", "E05.8 over-synchronized"),
        ])
    }

    @Test("thirty submissions: the table is right, and no file or process remains")
    func thirty() throws {
        let submissions = try ending() + cheating() + unfit() + honest()
        try #require(submissions.count == 30)
        for (index, submission) in submissions.enumerated() {
            try submitted.add("student \(index + 10)", submission.source)
        }
        let temporary = TemporaryFolder()
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
        let rows = try rows()
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
