import Graders

// Compiled together with an answer that consists of two schedules.

final class AnswerForGrading: Graders.SchedulesAnswer {
    let losesAHandler: String = Scheduler.losesAHandler
    let deliversTwice: String = Scheduler.deliversTwice
}
