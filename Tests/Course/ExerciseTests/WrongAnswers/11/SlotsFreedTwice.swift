// Rejected: E11.1 lost
// A registration that is withdrawn twice frees its place twice.

import Foundation

public final class CancelSource {
    public let token = CancelToken()
    public init() {}
    public func cancel() { token.cancel() }
}

public final class CancelToken: @unchecked Sendable {
    private struct Slot { var generation = 0; var observer: (@Sendable () -> Void)? }
    private let lock = NSLock()
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var isDone = false
    public var isCancelled: Bool { lock.withLock { isDone } }
    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        lock.lock()
        if isDone {
            lock.unlock()
            observer()
            return Registration(nil, 0, 0)
        }
        let place: Int
        if let old = free.popLast() {
            place = old
        } else {
            place = slots.count
            slots.append(Slot())
        }
        slots[place].generation += 1
        slots[place].observer = observer
        let generation = slots[place].generation
        lock.unlock()
        return Registration(self, place, generation)
    }
    fileprivate func withdraw(_ place: Int, _ generation: Int) {
        lock.lock()
        guard slots.indices.contains(place), slots[place].generation == generation else {
            return lock.unlock()
        }
        let gone = slots[place].observer
        slots[place].observer = nil
        free.append(place)
        lock.unlock()
        withExtendedLifetime(gone) {}
    }
    fileprivate func cancel() {
        lock.lock()
        isDone = true
        let all = slots
        slots = []
        lock.unlock()
        for slot in all { slot.observer?() }
    }
}
public final class Registration {
    private let token: CancelToken?
    private let place: Int, generation: Int
    fileprivate init(_ token: CancelToken?, _ place: Int, _ generation: Int) {
        self.token = token; self.place = place; self.generation = generation
    }
    public func withdraw() { token?.withdraw(place, generation) }
}
