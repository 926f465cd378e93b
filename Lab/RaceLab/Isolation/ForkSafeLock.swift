import Foundation

/// A value behind a lock that can be held during a `fork`, see ``Isolated``. The child could not
/// release a `Mutex`: a `Mutex` knows its owner by thread ID, which is different in the child.
final class ForkSafeLock<Value>: @unchecked Sendable {
    private var value: Value
    private let lock = NSLock()

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// For ``Isolated``: between these calls, no other thread can be in the middle of a change.
    func hold() { lock.lock() }
    func release() { lock.unlock() }
}
