import Graders
import SharedSuite

// Compiled together with `Promise.swift`, an answer to exercise 12, and the original promise.

final class AnswerForGrading: BugHuntAnswer {
    var suspect: any PromiseUnderTest.Type { Suspect<Int>.self }
    let hazard: String = BugReport.hazard
    let schedule: String = BugReport.schedule
}
