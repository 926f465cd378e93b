import RaceLab
import Synchronization

/// The queue to which the promises of a design send their work.
///
/// In a scenario, it is a queue of the scenario with its own thread. On one thread, the caller runs
/// the work in order as soon as the operation that sent it has returned: as early as possible, and
/// never under a lock of the promise.
enum DesignQueue {
    private struct Work: @unchecked Sendable {
        let run: () -> Void
    }

    private struct State {
        var ofTheScenario: Scenario.Queue?
        var items: [Work] = []
        var isAtWork = false
    }

    /// The lab does not control this code, so an access is no step.
    private static let state = Mutex(State())

    static func use(_ queue: Scenario.Queue) {
        state.withLock { $0 = State(ofTheScenario: queue) }
    }

    static func useCaller() {
        state.withLock { $0 = State() }
    }

    static func send(_ run: @escaping () -> Void) {
        let work = Work(run: run)
        let queue = state.withLock { state in
            if state.ofTheScenario == nil { state.items.append(work) }
            return state.ofTheScenario
        }
        queue?.async(run)
    }

    /// Runs an operation of a promise and then, if there is no other thread, the work that it sent.
    static func afterwards<Answer>(_ operation: () throws -> Answer) rethrows -> Answer {
        defer { workThrough() }
        return try operation()
    }

    private static func workThrough() {
        let begins = state.withLock { state in
            let begins = !state.isAtWork && !state.items.isEmpty
            if begins { state.isAtWork = true }
            return begins
        }
        guard begins else { return }
        while let batch = nextBatch() {
            for work in batch { work.run() }
        }
    }

    private static func nextBatch() -> [Work]? {
        state.withLock { state in
            let batch = state.items
            state.items = []
            state.isAtWork = !batch.isEmpty
            return batch.isEmpty ? nil : batch
        }
    }
}
