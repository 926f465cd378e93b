import Graders
import SharedSuite

// Compiled together with `Promise.swift` and an answer that is a promise class.

final class AnswerForGrading: PromiseAnswer {}
