import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The events of one run of the example, in order.
struct Episode: Sendable {
    struct Event: Sendable, Equatable, CustomStringConvertible {
        enum Source: String, Sendable { case server, promise }

        let source: Source
        let text: String

        init(_ source: Source, _ text: String) {
            self.source = source
            self.text = text
        }

        var description: String { "\(source.rawValue): \(text)" }
    }

    /// What the server does with the requests.
    enum Case: String, Sendable, CaseIterable {
        case success = "both requests succeed"
        case failure = "the first request fails: status 500"
        case refusal = "no server listens for the second request"
        case silence = "the second request is never answered"
    }

    enum Stage: String, Sendable, CaseIterable {
        case handlers = "Stage 2"
        case threadSafe = "Stage 3"
    }

    /// In order: each event causes the next one. The exception is the request that times out: on a
    /// machine that is busy for longer than the time limit, the server may not have received the
    /// request by then.
    let events: [Event]

    /// Runs the example, and returns when it has ended; `nil` if it does not end within a minute.
    /// Blocks the calling thread. `patience` is the number of seconds before a silent request times
    /// out. (Whole seconds: on Linux, `URLSession` ignores the fraction.)
    static func run(
        _ example: Case, on stage: Stage, patience: TimeInterval
    ) throws -> Episode? {
        let queue = DispatchQueue(label: "example")
        let log = Log()
        let server = try LoopbackServer([
            "/first": .text("one"), "/second": .text("two"), "/broken": .status(500),
            "/silent": .silence,
        ]) { path in log.add(Event(.server, "GET \(path)")) }
        defer { server.stop() }
        let closed = try LoopbackServer.ClosedPort()

        var second = URLRequest(url: server.url("/second"))
        if example == .refusal { second.url = closed.url }
        if example == .silence {
            second.url = server.url("/silent")
            // Set as a property: on Linux, the argument of the initializer has no effect.
            second.timeoutInterval = patience
        }
        let requests = Requests(
            first: URLRequest(url: server.url(example == .failure ? "/broken" : "/first")),
            second: second, queue: queue
        ) { text in log.add(Event(.promise, text)) }

        let ended = DispatchSemaphore(value: 0)
        switch stage {
        case .handlers: requests.onStage2 { ended.signal() }
        case .threadSafe: requests.onStage3 { ended.signal() }
        }
        guard ended.wait(timeout: .now() + 60) == .success else { return nil }
        return withExtendedLifetime(closed) { Episode(events: log.events) }
    }
}
