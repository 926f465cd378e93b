import Graders
import RaceLabTesting
import Testing

// Your own answers: `swift test --filter Exercise05` grades exercise 5; a run of all tests grades
// all of them. An unchanged stub is skipped.

/// Grades the answer in the workbook.
private func grade(_ number: Int) throws {
    let exercise = try #require(Exercise(number: number))
    let grade = Grader.here.grade(exercise, in: .own)
    let requirement = grade.unmet.flatMap(exercise.requirement)
    let question = grade.failure.flatMap { requirement?.question(for: $0) }
    #expect(
        grade.isPassed,
        """
        exercise \(number) is not solved: \(grade.rejection)
        \(grade.explanation)
        Question: \(question ?? "")
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

@Suite("Your answers", .needsTheLabElsewhere)
struct WorkbookTests {
    @Test("Exercise 1 · Be the scheduler", .attempted(1))
    func Exercise01() throws { try grade(1) }

    @Test("Exercise 2 · Keep both handlers", .attempted(2))
    func Exercise02() throws { try grade(2) }

    @Test("Exercise 3 · Settle once", .attempted(3))
    func Exercise03() throws { try grade(3) }

    @Test("Exercise 4 · Flatten", .attempted(4))
    func Exercise04() throws { try grade(4) }

    @Test("Exercise 5 · Lock it", .attempted(5))
    func Exercise05() throws { try grade(5) }

    @Test("Exercise 6 · Do not call out under the lock", .attempted(6))
    func Exercise06() throws { try grade(6) }

    @Test("Exercise 7 · Keep the order across a settle", .attempted(7))
    func Exercise07() throws { try grade(7) }

    @Test("Exercise 8 · All of them", .attempted(8))
    func Exercise08() throws { try grade(8) }

    @Test("Exercise 9 · The first of them", .attempted(9))
    func Exercise09() throws { try grade(9) }

    @Test("Exercise 10 · Again", .attempted(10))
    func Exercise10() throws { try grade(10) }

    @Test("Exercise 11 · Told to stop", .attempted(11))
    func Exercise11() throws { try grade(11) }

    @Test("Exercise 12 · Find the bug", .attempted(12))
    func Exercise12() throws { try grade(12) }

    @Test("Exercise 13 · Sell each seat once", .attempted(13))
    func Exercise13() throws { try grade(13) }

    @Test("Exercise 14 · As weak as possible", .attempted(14))
    func Exercise14() throws { try grade(14) }
}
