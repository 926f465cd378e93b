import Foundation
import Graders
import RaceLabTesting
import SharedSuite
import Testing

/// A folder of submissions for exercise 5.
extension TemporaryFolder {
    func add(_ student: String, _ source: String, in place: String = ".") throws {
        try write(source, to: "\(student)/\(place)/Exercise05.swift")
    }

    func link(_ student: String, to target: String, as name: String) throws {
        let link = url.appending(path: student).appending(path: name)
        try FileManager.default.createDirectory(
            at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? FileManager.default.removeItem(at: link)
        try FileManager.default.createSymbolicLink(
            at: link, withDestinationURL: url.appending(path: target))
    }
}

/// A class of students. A hostile submission affects no other student.
@Suite("A class is graded", .needsTheLabElsewhere)
struct ClassTests {
    let submitted = TemporaryFolder()

    /// The reference answer, with a statement added at the beginning of `settle`.
    func answer(_ mischief: String = "") throws -> String {
        let head = "    private func settle(_ outcome: Outcome) {\n"
        return try AnswerFile.named("05/NSLock.swift")
            .replacing(head, by: "\(head)        \(mischief)\n")
    }

    private func grade(_ more: String...) throws -> Commands.Result {
        let folder = submitted.url.path
        return try Commands.promiseLab(
            ["grade", "--submissions", folder, "--output", "\(folder)/grades.csv"] + more)
    }

    private func sheet() throws -> [String] {
        try String(contentsOf: submitted.url.appending(path: "grades.csv"), encoding: .utf8)
            .components(separatedBy: "\r\n").filter { !$0.isEmpty }
    }

    func rows() throws -> [String: String] {
        let rows = try sheet().map { $0.components(separatedBy: ",") }
        let column = try #require(rows.first?.firstIndex(of: "5 Lock it"))
        return Dictionary(uniqueKeysWithValues: rows.dropFirst().map { ($0[0], $0[column]) })
    }

    @Test("an answer is graded again only if it has changed, or with `--afresh`")
    func resuming() throws {
        try submitted.add("anna", try answer())
        try submitted.add("bert", try answer("guard handlers.count < 9 else { return }"))
        // What was not attempted does not count.
        #expect(try grade().output.contains("2 answers graded;"))
        #expect(try grade().output.contains("0 answers graded, 2 unchanged;"))
        try submitted.add("bert", try answer())
        #expect(try grade().output.contains("1 answer graded, 1 unchanged;"))
        #expect(try rows()["bert"] == "passed")
        #expect(try grade("--afresh").output.contains("2 answers graded;"))
    }

    @Test("unusual names, stray files, and an incomplete line in the journal are accepted")
    func names() throws {
        let names = ["=1+1", "Müller, Jörg", "O\"Neil d'Arc"]
        let stub = Exercise(number: 5)!.stub()
        for name in names { try submitted.add(name, stub) }
        try submitted.write("stray", to: "Exercise05.swift")
        let reports = submitted.url.appending(path: "reports")
        _ = try grade("--reports", reports.path)
        try submitted.write(stub, to: "=1+1/exercise5.swift")
        let result = try grade("--reports", reports.path)
        #expect(result.output.contains("0 answers graded"), "\(result.errors)")
        let complaint = result.errors.split(separator: "\n").joined(separator: " ")
        #expect(complaint.contains("not graded"))
        #expect(complaint.hasSuffix("=1+1: exercise5.swift"))
        let students = try sheet().dropFirst()
        let cells = ["'=1+1", "\"Müller, Jörg\"", "\"O\"\"Neil d'Arc\""]
        #expect(students.count == cells.count)
        for (row, cell) in zip(students, cells) { #expect(row.hasPrefix("\(cell),0,")) }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: reports.path).sorted()
                == names.map { "\($0).md" })

        let journal = submitted.url.appending(path: "grades.csv.journal")
        let whole = try Data(contentsOf: journal)
        try whole.dropLast(9).write(to: journal)
        // The incomplete line is written again, once.
        _ = try grade("--reports", reports.path)
        let repaired = try Data(contentsOf: journal)
        #expect(repaired.count > whole.count)
        _ = try grade("--reports", reports.path)
        #expect(try Data(contentsOf: journal) == repaired)
    }

    @Test("answers are found in folders of a student, and what is not graded is listed")
    func folders() throws {
        let exercise = try #require(Exercise(number: 5))
        let stub = exercise.stub()
        let answer = try answer()
        try submitted.add("anna", answer, in: "week 3")
        try submitted.add("bert", answer, in: "course/Exercises/Workbook")
        try submitted.add("bert", stub + "let other = 1", in: "course/Course/Graders/Stubs")
        try submitted.write("", to: "bert/course/Package.swift")
        try submitted.add("cleo", stub, in: "Exercises/Workbook")
        try submitted.add("cleo", answer)
        try submitted.add("dora", answer, in: "Workbook")
        try submitted.add("dora", answer, in: "old/copy")
        try submitted.write("", to: "dora/old/exercise6.swift")
        let submissions = try Submissions(submitted.url)
        let places = [
            "anna": "anna/week 3", "bert": "bert/course/Exercises/Workbook", "cleo": "cleo",
            "dora": "dora/Workbook",
        ]
        for (student, place) in places {
            let workbook = submissions.workbook(of: student, for: exercise)
            #expect(workbook.folder.path == submitted.url.appending(path: place).path)
            #expect(
                submissions.strangers(of: student)
                    == (student == "dora" ? ["old/exercise6.swift"] : []))
            #expect(
                submissions.duplicates(of: student)
                    == (student == "dora" ? ["old/copy/Exercise05.swift"] : []))
        }
        let result = try grade()
        for row in try rows().values { #expect(row == "passed") }
        #expect(result.errors.contains("old/copy/Exercise05.swift"))
        #expect(result.errors.contains("old/exercise6.swift"))
    }

    @Test("a link to another student's answer, or to their folder, is not accepted")
    func links() throws {
        let answer = try answer()
        try submitted.add("anna", answer, in: "week 3")
        try submitted.link("bert", to: "anna/week 3", as: "Workbook")
        try submitted.add("cleo", "", in: "own")
        try submitted.link("cleo", to: "anna/week 3/Exercise05.swift", as: "own/Exercise05.swift")
        try submitted.add("dora", answer, in: "own")
        try submitted.link("dora", to: "dora/own", as: "Workbook")
        _ = try grade()
        let link = "not accepted: it is a link to a file outside of the student's folder"
        let expected = ["anna": "passed", "bert": link, "cleo": link, "dora": "passed"]
        #expect(try rows() == expected)
        try FileManager.default.removeItem(at: submitted.url.appending(path: "cleo"))
        try submitted.add("cleo", answer, in: "own")
        _ = try grade()
        #expect(try rows()["cleo"] == "passed")
    }

    @Test("the schedule in the sheet reproduces the interleaving, and the report shows it")
    func replaying() throws {
        try submitted.add("anna", try AnswerFile.named("05/CheckOutsideTheLock.swift").source)
        let reports = submitted.url.appending(path: "reports")
        _ = try grade("--reports", reports.path)
        let cell = try #require(try rows()["anna"])
        let parts = cell.components(separatedBy: ": ")
        let id = try #require(parts.first?.split(separator: " ").first.map(String.init))
        #expect(id.hasPrefix("E05.4/") && parts.first == "\(id) lost")
        let schedule = try #require(parts.last)
        let file = submitted.url.appending(path: "anna/Exercise05.swift").path
        let replayed = try Commands.promiseLab(
            ["grade", "5", "--file", file, "--replay", id, "--schedule", schedule])
        #expect(replayed.status == 0)
        #expect(replayed.output.contains("is never called: the program is"))
        let report = try String(
            contentsOf: reports.appending(path: "anna.md"), encoding: .utf8)
        #expect(report.contains("--schedule \(schedule)"))
        #expect(report.contains("handlers.append(handler)"))
        // The student has no such folder.
        #expect(!report.contains(submitted.url.path))
    }
}
