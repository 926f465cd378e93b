import Foundation
import Graders
import RaceLab

/// Grades a class.
struct SubmissionsCommand {
    let sheet: URL
    /// The folder for the students' reports; `nil` if none are written.
    let reports: URL?

    func run(_ folder: URL, _ limits: Limits, afresh: Bool) throws {
        let home = sheet.deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: home.path) else {
            throw Mistake("there is no folder \(home.path) for the sheet")
        }
        if let reports {
            try FileManager.default.createDirectory(at: reports, withIntermediateDirectories: true)
        }
        let submissions = try Submissions(folder, besides: reports)
        let journalFile = URL(filePath: sheet.path + ".journal")
        var journal = Journal(journalFile, afresh: afresh)
        var grades = GradeSheet()
        let progress = Progress()
        let fresh = try GradeCommand.grader(limits).grade(
            submissions, &journal, progress: progress.now
        ) { student, graded in
            grades.add(student, graded)
            try grades.text.write(to: sheet, atomically: true, encoding: .utf8)
            guard let reports else { return }
            let title = "# \(student): \(SubmissionsCommand.passed(graded))\n\n"
            let text = title + zip(Exercise.all, graded).map { $1.markdown($0) }.joined()
            let file = reports.appending(path: "\(student).md")
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        progress.end()
        sum(up: grades, fresh: fresh, journalFile)
        tellOfStrangers(in: submissions)
    }

    private static func passed(_ grades: [Grade]) -> String {
        "\(grades.count(where: \.isPassed)) of \(grades.count) passed"
    }

    private func sum(up sheet: GradeSheet, fresh: Int, _ journal: URL) {
        for (student, grades) in sheet.rows {
            let line = "\(student.padded(to: 30))  \(SubmissionsCommand.passed(grades))"
            // Which answers have no verdict: `5 does not compile`.
            let notJudged = ["does not compile", "not accepted", "not graded"].compactMap { words in
                let numbers = grades.filter { GradeCommand.verdict(of: $0).text == words }
                    .map { "\($0.exercise)" }
                return numbers.isEmpty ? nil : "\(numbers.joined(separator: ", ")) \(words)"
            }
            print(([line] + notJudged).joined(separator: "; "))
        }
        let attempted = sheet.rows.flatMap(\.grades).count { $0.result != .notAttempted }
        var words = "\(fresh) \(fresh == 1 ? "answer" : "answers") graded"
        if attempted > fresh { words += ", \(attempted - fresh) unchanged" }
        words += "; the sheet is in \(self.sheet.path)"
        if let reports { words += ", reports in \(reports.path)" }
        words += ". Results are kept in \(journal.path); --afresh grades all again."
        print("\n" + Terminal.wrapped(words))
    }

    /// Lists files with other names, whose exercises would silently count as `not attempted`, and
    /// second answers to the same exercise.
    private func tellOfStrangers(in submissions: Submissions) {
        let names = "\(Exercise.all[0].name).swift to \(Exercise.all.last!.name).swift"
        let second = "another folder contains an answer to the same exercise, which is graded"
        for student in submissions.students {
            for (why, files) in [
                ("answers are called \(names)", submissions.strangers(of: student)),
                (second, submissions.duplicates(of: student)),
            ] where !files.isEmpty {
                let list = files.joined(separator: ", ")
                Terminal.complain("not graded, because \(why): \(student): \(list)")
            }
        }
    }
}
