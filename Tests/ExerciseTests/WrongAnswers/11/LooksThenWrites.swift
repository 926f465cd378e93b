// Rejected: E11.9 lost
// An atomic flag and a locked list. Who registers looks at the flag first, and writes afterwards:
// not the other way round.

import Foundation
import Synchronization

public final class CancelSource {
    public let token = CancelToken()

    public init() {}

    public func cancel() {
        token.cancel()
    }
}

public final class CancelToken {
    private let flag = Atomic(false)
    private let lock = NSLock()
    private var cells: [Registration] = []

    public var isCancelled: Bool { flag.load(ordering: .sequentiallyConsistent) }

    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        let cell = Registration(observer)
        if isCancelled {
            cell.take()?()
        } else {
            lock.withLock { cells.append(cell) }
        }
        return cell
    }

    fileprivate func cancel() {
        guard !flag.exchange(true, ordering: .sequentiallyConsistent) else { return }
        let cells = lock.withLock { () -> [Registration] in
            defer { self.cells = [] }
            return self.cells
        }
        for cell in cells { cell.take()?() }
    }
}

public final class Registration {
    private let lock = NSLock()
    private var observer: (@Sendable () -> Void)?

    fileprivate init(_ observer: @escaping @Sendable () -> Void) {
        self.observer = observer
    }

    fileprivate var isEmpty: Bool { lock.withLock { observer == nil } }

    fileprivate func take() -> (@Sendable () -> Void)? {
        lock.withLock {
            defer { observer = nil }
            return observer
        }
    }

    public func withdraw() {
        _ = take()
    }
}
