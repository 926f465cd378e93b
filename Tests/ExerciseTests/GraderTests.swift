import Foundation
import Graders
import StageTesting
import Testing

/// The graders, graded.
@Suite("Graders", .needsTheLab)
struct GraderTests {
    @Test("a right answer is accepted", arguments: AnswerFile.right)
    func accepted(_ answer: AnswerFile) {
        let grade = Grader.here.grade(answer.exercise, answer.file)
        #expect(grade.isPassed, "\(grade.rejection): \(grade.explanation)")
    }

    @Test("a wrong answer is rejected, for the reason beside it", arguments: AnswerFile.wrong)
    func rejected(_ answer: AnswerFile) throws {
        let reason = try #require(answer.rejection, "its first line says // Rejected: …")
        let grade = Grader.here.grade(answer.exercise, answer.file)
        #expect(grade.rejection == reason, "\(grade.explanation)")
    }

    @Test("a stub is recognised as untouched, and would fail", arguments: Exercise.all)
    func stub(_ exercise: Exercise) {
        let grade = Grader.here.grade(exercise, exercise.stub)
        guard case .failed = grade.result else {
            Issue.record("graded, it comes out as \(grade.rejection): \(grade.explanation)")
            return
        }
    }

    @Test("there are enough answers of either kind", arguments: Exercise.all)
    func enough(_ exercise: Exercise) {
        let right = AnswerFile.right.count { $0.exercise.number == exercise.number }
        let wrong = AnswerFile.wrong.count { $0.exercise.number == exercise.number }
        #expect(right >= (5...11 ~= exercise.number ? 3 : 1))
        #expect(wrong >= 6)
    }

    @Test("each requirement rejects an answer that meets all before it", arguments: 8...11)
    func everyRequirementIsNeeded(_ number: Int) throws {
        let exercise = try #require(Exercise(number: number))
        let rejections = AnswerFile.wrong.filter { $0.exercise.number == number }
            .compactMap(\.rejection)
        for requirement in exercise.requirements {
            #expect(rejections.contains { $0.hasPrefix("\(requirement.id) ") }, "\(requirement.id)")
        }
    }

    @Test("hints lead on, and none has a line of an answer in it", arguments: Exercise.all)
    func hints(_ exercise: Exercise) {
        #expect(!exercise.hints.isEmpty)
        let lines = AnswerFile.right.filter { $0.exercise.number == exercise.number }
            .flatMap { $0.source.split(separator: "\n") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.count > 12 && !$0.hasPrefix("//") }
        for hint in exercise.hints {
            #expect(!lines.contains { hint.contains($0) }, "\(hint)")
        }
    }
}

extension Exercise: CustomTestStringConvertible {
    public var testDescription: String { "\(number) \(title)" }
}
