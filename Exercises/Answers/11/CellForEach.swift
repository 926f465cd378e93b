// A cell for each observer that can be emptied once. `onCancel` first writes the cell and then
// reads the flag; `cancel` first writes the flag and then reads the cells. So at least one of them
// sees the other, and if both do, the cell decides.

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
        lock.withLock {
            cells.removeAll { $0.isEmpty }
            cells.append(cell)
        }
        if isCancelled { cell.take()?() }
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
