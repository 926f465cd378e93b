import Foundation

/// A lost wakeup: the letter can come between the look and the wait, and then its signal wakes no
/// thread.
public final class Mailbox {
    private var letters: [String] = []
    private let condition = NSCondition()

    public init() {}

    private var isEmpty: Bool { condition.withLock { letters.isEmpty } }

    public func post(_ letter: String) {
        condition.withLock {
            letters.append(letter)
            condition.signal()
        }
    }

    public func receive() -> String {
        while isEmpty {
            condition.withLock { condition.wait() }
        }
        return condition.withLock { letters.removeFirst() }
    }
}
