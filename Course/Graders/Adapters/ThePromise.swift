import Graders
import SharedSuite

// Compiled together with `Promise.swift` and an answer that is a promise class.

final class TheAnswer: PromiseAnswer {}

@_cdecl("the_answer")
public func theAnswer() -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(TheAnswer()).toOpaque()
}
