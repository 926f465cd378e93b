// A semaphore as a lock. Observers have numbers, as with any lock; the time limit of the wait never
// passes.

import Dispatch

private final class State: @unchecked Sendable {
    private let gate = DispatchSemaphore(value: 1)
    private var isOver = false
    private var count = 0
    private var observers: [Int: @Sendable () -> Void] = [:]

    private func locked<T>(_ body: () -> T) -> T {
        _ = gate.wait(timeout: .distantFuture)
        defer { gate.signal() }
        return body()
    }

    var isCancelled: Bool { locked { isOver } }

    func add(_ observer: @escaping @Sendable () -> Void) -> Int? {
        let number: Int? = locked {
            if isOver { return nil }
            count += 1
            observers[count] = observer
            return count
        }
        if number == nil { observer() }
        return number
    }

    func remove(_ number: Int) {
        let removed = locked { observers.removeValue(forKey: number) }
        withExtendedLifetime(removed) {}
    }

    func cancel() {
        let all: [Int: @Sendable () -> Void] = locked {
            isOver = true
            defer { observers = [:] }
            return observers
        }
        for (_, observer) in all { observer() }
    }
}

public final class CancelSource: Sendable {
    public let token = CancelToken()

    public init() {}

    public func cancel() { token.state.cancel() }
}

public final class CancelToken: Sendable {
    fileprivate let state = State()

    public var isCancelled: Bool { state.isCancelled }

    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        Registration(state, state.add(observer))
    }
}

public final class Registration: Sendable {
    private let state: State
    private let number: Int?

    fileprivate init(_ state: State, _ number: Int?) {
        self.state = state
        self.number = number
    }

    public func withdraw() { if let number { state.remove(number) } }
}
