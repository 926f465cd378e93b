import Foundation

/// A minimal web server for examples and tests: plain sockets, the loopback interface only, a free
/// port, one connection at a time, and its own thread. Each path has a fixed response.
///
/// It stops when it is freed or `stop` is called, and always after a maximum of connections.
final class LoopbackServer: Sendable {
    enum Answer: Sendable {
        case text(String)
        case status(Int)
        /// The server accepts the connection, reads the request, and never responds.
        case silence
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16
    private let work: Work
    private let ended = DispatchSemaphore(value: 0)

    /// Starts to listen. The server's thread calls `heard` with the path of each request before it
    /// responds.
    init(
        _ answers: [String: Answer], heard: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        let (listener, port) = try Sockets.listen()
        self.port = port
        work = Work(listener: listener, port: port, answers: answers, heard: heard)
        let thread = Thread { [work, ended] in
            work.serve()
            ended.signal()
        }
        thread.name = "loopback server"
        thread.start()
    }

    deinit { stop() }

    /// Stops listening, closes every connection, and returns when the server's thread has ended.
    func stop() {
        guard work.beginStopping() else { return }
        ended.wait()
    }

    func url(_ path: String) -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)")!
    }

    /// A port on which no server listens, reserved as long as this object lives.
    final class ClosedPort: Sendable {
        private let socket: Int32
        private let port: UInt16

        init() throws {
            (socket, port) = try Sockets.bound()
        }

        deinit { close(socket) }

        var url: URL { URL(string: "http://127.0.0.1:\(port)/")! }
    }
}

/// The loop of the server's thread.
private final class Work: Sendable {
    /// More than any use of the server needs, so that a bug cannot keep it running forever.
    private static let mostConnections = 100

    private let listener: Int32
    private let port: UInt16
    private let answers: [String: LoopbackServer.Answer]
    private let heard: @Sendable (String) -> Void
    private let isStopping = Flag()

    init(
        listener: Int32, port: UInt16, answers: [String: LoopbackServer.Answer],
        heard: @escaping @Sendable (String) -> Void
    ) {
        self.listener = listener
        self.port = port
        self.answers = answers
        self.heard = heard
    }

    /// Returns whether this call was the first. A connection from this process wakes the thread:
    /// closing a socket on which another thread waits does not.
    func beginStopping() -> Bool {
        guard isStopping.raise() else { return false }
        Sockets.knock(at: port)
        return true
    }

    func serve() {
        var silent: [Int32] = []
        for _ in 0..<Self.mostConnections {
            let connection = Sockets.accept(listener)
            if connection < 0 || isStopping.isRaised {
                if connection >= 0 { close(connection) }
                break
            }
            if answer(connection) { close(connection) } else { silent.append(connection) }
        }
        for connection in silent { close(connection) }
        close(listener)
    }

    /// Returns whether the connection is finished.
    private func answer(_ connection: Int32) -> Bool {
        guard let path = Sockets.readRequest(connection) else { return true }
        heard(path)
        switch answers[path] ?? .status(404) {
        case .text(let text): Sockets.write(response(200, text), to: connection)
        case .status(let status): Sockets.write(response(status, ""), to: connection)
        case .silence: return false
        }
        return true
    }

    private func response(_ status: Int, _ text: String) -> String {
        "HTTP/1.1 \(status) \(status == 200 ? "OK" : "Sorry")\r\n"
            + "Content-Type: text/plain; charset=utf-8\r\n"
            + "Content-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
    }
}
