import Foundation

/// Calls functions that may call each other, without exhausting the stack.
///
/// A promise that follows another is settled inside an observer of that other.
/// In a chain of 100,000 of them, each call would be inside the one before. So
/// beyond a certain depth, a function is stored, and called when the outermost
/// one on this thread has returned. (Bolts for Swift counts to 20, and moves to
/// another thread.)
final class Nesting {
    private static let limit = 20
    private static let key = "PromiseOperators.Nesting"

    private var depth = 0
    private var postponed: [() -> Void] = []

    static func run(_ function: @escaping () -> Void) {
        let thread = Thread.current.threadDictionary
        let nesting = thread[key] as? Nesting ?? Nesting()
        thread[key] = nesting
        nesting.run(function)
    }

    private func run(_ function: @escaping () -> Void) {
        if depth == Self.limit { return postponed.append(function) }
        depth += 1
        defer { depth -= 1 }
        function()
        while depth == 1, !postponed.isEmpty {
            let batch = postponed
            postponed = []
            for function in batch { function() }
        }
    }
}
