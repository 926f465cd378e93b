import Graders
import SharedSuite

// Compiled together with `Promise+Grading.swift` and an answer that is a promise class.

final class AnswerForGrading: Graders.PromiseAnswer {}
