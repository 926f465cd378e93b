import Foundation
import Graders
import RaceLab

/// Grades a class.
enum SubmissionsCommand {
    struct Task {
        let submissions: URL
        let sheet: URL
        /// The folder for the students' reports; `nil` if none are written.
        let reports: URL?
        let isAfresh: Bool
        let limits: Limits
    }

    static func run(_ task: Task) throws {
        Interruption.cleanUpWhenItComes()
        let submissions = try open(task)
        let journalFile = URL(filePath: task.sheet.path + ".journal")
        var journal = Journal(journalFile, afresh: task.isAfresh)
        var sheet = GradeSheet()
        let progress = Progress()
        let fresh = try GradeCommand.grader(task.limits).grade(
            submissions, &journal, progress: progress.now
        ) { student, grades in
            sheet.add(student, grades)
            try write(sheet.text, to: task.sheet)
            if let reports = task.reports { try report(student, grades, in: reports) }
        }
        progress.end()
        sum(up: sheet, task, fresh: fresh, journalFile)
        tellOfStrangers(in: submissions)
    }

    private static func open(_ task: Task) throws -> Submissions {
        let home = task.sheet.deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: home.path) else {
            throw Mistake("there is no folder \(home.path) for the sheet")
        }
        if let reports = task.reports {
            try FileManager.default.createDirectory(at: reports, withIntermediateDirectories: true)
        }
        do {
            return try Submissions(task.submissions, besides: task.reports)
        } catch let unreadable as Submissions.Unreadable {
            throw Mistake(unreadable.description)
        }
    }

    private static func write(_ text: String, to file: URL) throws {
        do {
            try text.write(to: file, atomically: true, encoding: .utf8)
        } catch {
            throw Mistake("\(file.path) cannot be written: \(error.localizedDescription)")
        }
    }

    private static func report(
        _ student: String, _ grades: [Grade], in folder: URL
    ) throws {
        let passed = grades.count(where: \.isPassed)
        let parts = zip(Exercise.all, grades).map { $1.markdown($0) }
        try write(
            "# \(student): \(passed) of \(grades.count) passed\n\n" + parts.joined(),
            to: folder.appending(path: "\(student).md"))
    }

    /// Which answers of a student have no verdict: `5 does not compile`.
    private static func notJudged(_ grades: [Grade]) -> [String] {
        let kinds: [(String, (Grade.Result) -> Bool)] = [
            ("does not compile", { if case .doesNotCompile = $0 { true } else { false } }),
            ("not accepted", { if case .refused = $0 { true } else { false } }),
            ("not graded", { if case .unavailable = $0 { true } else { false } }),
        ]
        return kinds.compactMap { words, isMeant in
            let numbers = grades.filter { isMeant($0.result) }.map { "\($0.exercise)" }
            return numbers.isEmpty ? nil : "\(numbers.joined(separator: ", ")) \(words)"
        }
    }

    /// Lists files with other names, whose exercises would silently count as `not attempted`, and
    /// second answers to the same exercise.
    private static func tellOfStrangers(in submissions: Submissions) {
        // Standard output first, or a pipe would show the two in any order.
        fflush(nil)
        for student in submissions.students {
            complain(
                student, submissions.strangers(of: student),
                "answers are called \(Exercise.all[0].name).swift to "
                    + "\(Exercise.all.last!.name).swift")
            complain(
                student, submissions.duplicates(of: student),
                "another folder contains an answer to the same exercise, which is graded")
        }
    }

    private static func complain(_ student: String, _ files: [String], _ why: String) {
        if files.isEmpty { return }
        Terminal.complain(
            "promise-lab: not graded, because \(why): \(student): "
                + files.joined(separator: ", "))
    }

    private static func sum(up sheet: GradeSheet, _ task: Task, fresh: Int, _ journal: URL) {
        for (student, grades) in sheet.rows {
            let passed = grades.count(where: \.isPassed)
            let line = "\(student.padded(to: 30))  \(passed) of \(grades.count) passed"
            print(([line] + notJudged(grades)).joined(separator: "; "))
        }
        print("")
        let attempted = sheet.rows.flatMap { $0.grades }.count { $0.result != .notAttempted }
        var words = "\(fresh) \(fresh == 1 ? "answer" : "answers") graded"
        if attempted > fresh { words += ", \(attempted - fresh) unchanged" }
        words += "; the sheet is in \(task.sheet.path)"
        if let reports = task.reports { words += ", reports in \(reports.path)" }
        words += ". Results are kept in \(journal.path); --afresh grades all again."
        print(Terminal.wrapped(words))
    }
}
