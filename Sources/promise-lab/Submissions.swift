import Foundation
import Graders

/// Grades a class.
enum SubmissionsCommand {
    struct Task {
        let submissions: URL
        let sheet: URL
        /// Where the report of each student goes, if anywhere.
        let reports: URL?
        let isAfresh: Bool
        let limits: Limits
    }

    static func run(_ task: Task) throws {
        let submissions = try open(task)
        let journalFile = URL(filePath: task.sheet.path + ".journal")
        var journal = Journal(journalFile, afresh: task.isAfresh)
        let grader = Grader(
            command: Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]),
            limits: task.limits)
        var sheet = GradeSheet()
        let progress = Progress()
        var fresh = 0
        for (index, student) in submissions.students.enumerated() {
            let workbook = submissions.workbook(of: student)
            let grades = try Exercise.all.map { exercise in
                if let known = journal.grade(student, exercise, workbook) { return known }
                progress.now(
                    "\(student) (\(index + 1) of \(submissions.students.count)), exercise "
                        + "\(exercise.number)")
                let grade = grader.grade(exercise, in: workbook)
                try journal.note(grade, of: student, exercise, workbook)
                fresh += 1
                return grade
            }
            sheet.add(student, grades)
            try write(sheet.text, to: task.sheet)
            if let reports = task.reports { try report(student, grades, workbook, in: reports) }
        }
        progress.end()
        sum(up: sheet, task, fresh: fresh, journalFile)
    }

    private static func open(_ task: Task) throws -> Submissions {
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
        _ student: String, _ grades: [Grade], _ workbook: Workbook, in folder: URL
    ) throws {
        let passed = grades.count(where: \.isPassed)
        let parts = zip(Exercise.all, grades).map { $1.markdown($0, workbook.file($0)) }
        try write(
            "# \(student): \(passed) of \(grades.count) passed\n\n" + parts.joined(),
            to: folder.appending(path: "\(student).md"))
    }

    private static func sum(up sheet: GradeSheet, _ task: Task, fresh: Int, _ journal: URL) {
        for (student, grades) in sheet.rows {
            let passed = grades.count(where: \.isPassed)
            print("\(student.padded(to: 30))  \(passed) of \(grades.count) passed")
        }
        print("")
        print(
            Terminal.wrapped(
                "\(fresh) answers graded, the others known from before; the sheet is in "
                    + "\(task.sheet.path)" + (task.reports.map { ", reports in \($0.path)" } ?? "")
                    + ". What is known is kept in \(journal.path); --afresh grades all again."))
    }
}
