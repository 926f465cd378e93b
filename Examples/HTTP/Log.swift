import Synchronization

/// What happens, in order, on whichever thread.
final class Log: Sendable {
    private let state = Mutex<[Episode.Event]>([])

    var events: [Episode.Event] { state.withLock { $0 } }

    func add(_ event: Episode.Event) {
        state.withLock { $0.append(event) }
    }
}
