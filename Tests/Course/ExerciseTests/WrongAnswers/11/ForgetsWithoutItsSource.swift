// Rejected: E11.1 wrong value
// The token refers weakly to what only the source keeps.

import Synchronization

private final class Core: Sendable {
    struct State {
        var isCancelled = false
        var observers: [Int: @Sendable () -> Void] = [:]
        var nextNumber = 0
    }

    let state = Mutex(State())
}

public final class CancelSource {
    private let core = Core()
    public let token: CancelToken

    public init() { token = CancelToken(core) }

    public func cancel() {
        let observers = core.state.withLock { state in
            state.isCancelled = true
            defer { state.observers = [:] }
            return state.observers
        }
        for observer in observers.values { observer() }
    }
}

public final class CancelToken {
    private weak var core: Core?

    fileprivate init(_ core: Core) { self.core = core }

    public var isCancelled: Bool { core?.state.withLock { $0.isCancelled } ?? false }

    public func onCancel(_ observer: @escaping @Sendable () -> Void) -> Registration {
        let number = core?.state.withLock { state -> Int? in
            if state.isCancelled { return nil }
            defer { state.nextNumber += 1 }
            state.observers[state.nextNumber] = observer
            return state.nextNumber
        }
        if core != nil, number == nil { observer() }
        return Registration(core: core, number: number)
    }
}

public struct Registration {
    fileprivate let core: Core?
    fileprivate let number: Int?

    public func withdraw() {
        guard let number else { return }
        _ = core?.state.withLock { $0.observers.removeValue(forKey: number) }
    }
}
