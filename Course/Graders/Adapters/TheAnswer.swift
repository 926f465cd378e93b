import Graders

// Compiled together with each answer, and with the adapter that defines `TheAnswer`.

@_cdecl("the_answer")
public func theAnswer() -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(TheAnswer()).toOpaque()
}
