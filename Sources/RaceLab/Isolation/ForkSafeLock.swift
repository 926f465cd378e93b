import Foundation

/// A value behind a lock that can be held while the process is copied, see ``Isolated``. A `Mutex`
/// could not be released in the copy: it knows its owner by a number, which is another one there.
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

    /// For ``Isolated``: no other thread is in the middle of something between these two.
    func hold() { lock.lock() }
    func release() { lock.unlock() }
}
