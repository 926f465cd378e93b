// Rejected: E11.1 wrongly called
// An observer that withdraws an earlier one shifts those after it.

import Foundation

public final class CancelSource {
    public let token = CancelToken()
    public init() {}
    public func cancel() { token.cancel() }
}

public final class CancelToken: @unchecked Sendable {
    private let lock = NSLock()
    private var isDone = false
    private var entries: [(id: Int, call: (@Sendable () -> Void)?)] = []
    private var next = 0
    private var place = -1
    public var isCancelled: Bool { lock.withLock { isDone } }
    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        lock.lock()
        next += 1
        let id = next
        if isDone { lock.unlock(); observer(); return Registration(self, id) }
        entries.append((id, observer))
        lock.unlock()
        return Registration(self, id)
    }
    fileprivate func remove(_ id: Int) {
        lock.lock()
        guard let index = entries.firstIndex(where: { $0.id == id }), index != place else {
            return lock.unlock()
        }
        let gone = entries.remove(at: index)
        lock.unlock()
        withExtendedLifetime(gone.call) {}
    }
    /// Called with the lock, returns without it.
    private func callOne() {
        let call = entries[place].call
        entries[place].call = nil
        lock.unlock()
        call?()
    }
    fileprivate func cancel() {
        lock.lock()
        if isDone { return lock.unlock() }
        isDone = true
        place = 0
        while place < entries.count {
            callOne()
            lock.lock()
            place += 1
        }
        entries = []
        lock.unlock()
    }
}
public final class Registration {
    private weak var token: CancelToken?
    private let id: Int
    fileprivate init(_ token: CancelToken, _ id: Int) { self.token = token; self.id = id }
    public func withdraw() { token?.remove(id) }
}
