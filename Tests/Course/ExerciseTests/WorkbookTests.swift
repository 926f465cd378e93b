import Graders
import RaceLabTesting
import Testing

// Your own answers: `swift test --filter Exercise05` grades exercise 5; a run of all tests grades
// all of them. An unchanged stub is skipped.

/// Grades the answer in the workbook.
private func grade(_ number: Int) throws {
    let exercise = try #require(Exercise(number: number))
    let grade = Grader.here.grade(exercise, in: .own)
    #expect(
        grade.isPassed,
        """
        exercise \(number) is not solved: \(grade.rejection)
        \(grade.explanation)
        Question: \(grade.unmet.flatMap(exercise.requirement)?.question ?? "")
        The complete report: swift run promise-lab grade \(number)
        """)
}

extension Trait where Self == ConditionTrait {
    /// Skips an unchanged stub.
    fileprivate static func attempted(_ number: Int) -> Self {
        .enabled("not attempted: swift run promise-lab exercise \(number)") {
            Exercise(number: number).map { !Workbook.own.isUntouched($0) } ?? false
        }
    }
}

@Suite("Exercise 1 · Be the scheduler", .needsTheLabElsewhere)
struct Exercise01 {
    @Test("your answer", .attempted(1))
    func yourAnswer() throws { try grade(1) }
}

@Suite("Exercise 2 · Keep both handlers", .needsTheLabElsewhere)
struct Exercise02 {
    @Test("your answer", .attempted(2))
    func yourAnswer() throws { try grade(2) }
}

@Suite("Exercise 3 · Settle once", .needsTheLabElsewhere)
struct Exercise03 {
    @Test("your answer", .attempted(3))
    func yourAnswer() throws { try grade(3) }
}

@Suite("Exercise 4 · Flatten", .needsTheLabElsewhere)
struct Exercise04 {
    @Test("your answer", .attempted(4))
    func yourAnswer() throws { try grade(4) }
}

@Suite("Exercise 5 · Lock it", .needsTheLabElsewhere)
struct Exercise05 {
    @Test("your answer", .attempted(5))
    func yourAnswer() throws { try grade(5) }
}

@Suite("Exercise 6 · Do not call out under the lock", .needsTheLabElsewhere)
struct Exercise06 {
    @Test("your answer", .attempted(6))
    func yourAnswer() throws { try grade(6) }
}

@Suite("Exercise 7 · Keep the order across a settle", .needsTheLabElsewhere)
struct Exercise07 {
    @Test("your answer", .attempted(7))
    func yourAnswer() throws { try grade(7) }
}

@Suite("Exercise 8 · All of them", .needsTheLabElsewhere)
struct Exercise08 {
    @Test("your answer", .attempted(8))
    func yourAnswer() throws { try grade(8) }
}

@Suite("Exercise 9 · The first of them", .needsTheLabElsewhere)
struct Exercise09 {
    @Test("your answer", .attempted(9))
    func yourAnswer() throws { try grade(9) }
}

@Suite("Exercise 10 · Again", .needsTheLabElsewhere)
struct Exercise10 {
    @Test("your answer", .attempted(10))
    func yourAnswer() throws { try grade(10) }
}

@Suite("Exercise 11 · Told to stop", .needsTheLabElsewhere)
struct Exercise11 {
    @Test("your answer", .attempted(11))
    func yourAnswer() throws { try grade(11) }
}

@Suite("Exercise 12 · Find the bug", .needsTheLabElsewhere)
struct Exercise12 {
    @Test("your answer", .attempted(12))
    func yourAnswer() throws { try grade(12) }
}

@Suite("Exercise 13 · Sell each seat once", .needsTheLabElsewhere)
struct Exercise13 {
    @Test("your answer", .attempted(13))
    func yourAnswer() throws { try grade(13) }
}

@Suite("Exercise 14 · As weak as possible", .needsTheLabElsewhere)
struct Exercise14 {
    @Test("your answer", .attempted(14))
    func yourAnswer() throws { try grade(14) }
}
