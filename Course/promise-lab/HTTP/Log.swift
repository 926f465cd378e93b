import Synchronization

/// The events of all threads, in order.
final class Log: Sendable {
    private let state = Mutex<[Episode.Event]>([])

    var events: [Episode.Event] { state.withLock { $0 } }

    func add(_ event: Episode.Event) {
        state.withLock { $0.append(event) }
    }
}
