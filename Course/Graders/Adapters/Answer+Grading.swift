import Graders

// Compiled together with each answer, and with the adapter that defines `AnswerForGrading`.

@_cdecl("the_answer")
public func theAnswer() -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(AnswerForGrading()).toOpaque()
}
