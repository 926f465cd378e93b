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
                (student, submissions.workbook(of: student, for: $0), $0)
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
                let (student, workbook, exercise) = tasks[index]
                let old =
                    submissions.gradeOfLink(from: student, workbook, exercise)
                    ?? turn.withLock { known.grade(student, exercise, workbook) }
                if old == nil { progress("\(student), exercise \(exercise.number)") }
                let grade = old ?? self.grade(exercise, in: workbook)
                turn.withLock {
                    do {
                        if old == nil {
                            if grade.result != .notAttempted { fresh += 1 }
                            try known.note(grade, of: student, exercise, workbook)
                        }
                        grades[student, default: [:]][exercise.number] = grade
                        let all = Exercise.all.compactMap { grades[student]?[$0.number] }
                        if all.count == Exercise.all.count { try finished(student, all) }
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

extension Submissions {
    /// The grade of a link to a file that is not the student's; `nil` for any other answer.
    fileprivate func gradeOfLink(
        from student: String, _ workbook: Workbook, _ exercise: Exercise
    ) -> Grade? {
        let home = folder.appending(path: student).resolvingSymlinksInPath().path
        let file = workbook.file(exercise).resolvingSymlinksInPath().path
        guard !file.hasPrefix(home + "/"), !workbook.isUntouched(exercise) else { return nil }
        return Grade(exercise, .refused("it is a link to a file outside of the student's folder"))
    }
}
