import Foundation
import Synchronization

extension Grader {
    /// Grades the answers of a class that are not in the journal, as many at the same time as there
    /// are processors.
    ///
    /// - Parameters:
    ///   - progress: called with the name of each answer before it is graded, on several threads.
    ///   - finished: called when all grades of a student are known, on one thread at a time.
    /// - Returns: how many answers were graded, not counting those that were not attempted.
    /// - Throws: the error that `finished` throws, or that occurs when the journal is written. No
    ///   further answer is graded after an error.
    public func grade(
        _ submissions: Submissions, _ journal: inout Journal,
        progress: @escaping @Sendable (String) -> Void,
        finished: (String, [Grade]) throws -> Void
    ) throws -> Int {
        let tasks = submissions.students.flatMap { student in
            Exercise.all.map {
                ClassTask(
                    student: student, home: submissions.folder.appending(path: student),
                    workbook: submissions.workbook(of: student, for: $0), exercise: $0)
            }
        }
        let isStopped = Mutex(false)
        // The variables below are accessed under this lock only.
        let turn = NSLock()
        nonisolated(unsafe) var known = journal
        nonisolated(unsafe) var grades: [String: [Int: Grade]] = [:]
        nonisolated(unsafe) var (fresh, failure): (Int, (any Error)?) = (0, nil)
        try withoutActuallyEscaping(finished) { finished in
            nonisolated(unsafe) let finished = finished
            DispatchQueue.concurrentPerform(iterations: tasks.count) { index in
                if isStopped.withLock({ $0 }) { return }
                let task = tasks[index]
                let old = task.gradeOfLink ?? turn.withLock { task.grade(in: known) }
                if old == nil { progress(task.name) }
                let grade = old ?? self.grade(task.exercise, in: task.workbook)
                turn.withLock {
                    do {
                        if old == nil {
                            if grade.result != .notAttempted { fresh += 1 }
                            try task.note(grade, in: &known)
                        }
                        grades[task.student, default: [:]][task.exercise.number] = grade
                        let all = Exercise.all.compactMap { grades[task.student]?[$0.number] }
                        if all.count == Exercise.all.count { try finished(task.student, all) }
                    } catch {
                        failure = failure ?? error
                        isStopped.withLock { $0 = true }
                    }
                }
            }
            if let failure { throw failure }
        }
        journal = known
        return fresh
    }
}

/// One answer of a class.
private struct ClassTask: Sendable {
    let student: String
    let home: URL
    let workbook: Workbook
    let exercise: Exercise

    var name: String { "\(student), exercise \(exercise.number)" }

    /// The grade of a link to a file that is not the student's; `nil` for any other answer.
    var gradeOfLink: Grade? {
        let (file, home) = (workbook.file(exercise), home.resolvingSymlinksInPath().path)
        let isOutside = !file.resolvingSymlinksInPath().path.hasPrefix(home + "/")
        guard isOutside, !workbook.isUntouched(exercise) else { return nil }
        return Grade(exercise, .refused("it is a link to a file outside of the student's folder"))
    }

    func grade(in journal: Journal) -> Grade? { journal.grade(student, exercise, workbook) }

    func note(_ grade: Grade, in journal: inout Journal) throws {
        try journal.note(grade, of: student, exercise, workbook)
    }
}
