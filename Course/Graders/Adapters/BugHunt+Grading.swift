import Graders
import SharedSuite

// Compiled together with `Promise+Grading.swift`, an answer to exercise 12, and the original promise.

final class AnswerForGrading: Graders.BugHuntAnswer {
    var suspect: any SharedSuite.PromiseUnderTest.Type { Suspect<Int>.self }
    let hazard: String = BugReport.hazard
    let schedule: String = BugReport.schedule
}
