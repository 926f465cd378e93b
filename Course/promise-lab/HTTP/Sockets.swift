import Foundation
import Synchronization

/// The few socket calls that the server needs.
enum Sockets {
    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif

    /// A socket with a free port of the loopback interface, on which no server listens yet.
    static func bound() throws -> (socket: Int32, port: UInt16) {
        let socket = socket(AF_INET, stream, 0)
        guard socket >= 0 else { throw failure("socket") }
        var address = loopback(port: 0)
        guard withPointer(to: &address, { bind(socket, $0, $1) }) == 0 else {
            close(socket)
            throw failure("bind")
        }
        return (socket, port(of: socket))
    }

    static func listen() throws -> (socket: Int32, port: UInt16) {
        let (socket, port) = try bound()
        guard Foundation.listen(socket, 16) == 0 else {
            close(socket)
            throw failure("listen")
        }
        return (socket, port)
    }

    static func accept(_ listener: Int32) -> Int32 {
        while true {
            let connection = Foundation.accept(listener, nil, nil)
            guard connection < 0, errno == EINTR else { return prepared(connection) }
        }
    }

    /// Opens a connection and closes it.
    static func knock(at port: UInt16) {
        let socket = socket(AF_INET, stream, 0)
        guard socket >= 0 else { return }
        var address = loopback(port: port)
        _ = withPointer(to: &address) { connect(socket, $0, $1) }
        close(socket)
    }

    /// Reads up to the empty line that ends a request without a body, and returns its path; `nil`
    /// if the client closes the connection early, or the request is too long.
    static func readRequest(_ connection: Int32) -> String? {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1_024)
        while request.count < 16_384 {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            request += buffer[..<count]
            let text = String(decoding: request, as: UTF8.self)
            guard text.contains("\r\n\r\n") else { continue }
            let words = text.prefix { $0 != "\r\n" }.split(separator: " ")
            return words.count > 1 ? String(words[1]) : nil
        }
        return nil
    }

    static func write(_ text: String, to connection: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                #if canImport(Glibc)
                    send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                #else
                    send(connection, $0.baseAddress, $0.count, 0)
                #endif
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Sets a time limit, so that a silent client cannot block the server forever, and prevents a
    /// write to a closed connection from ending the program.
    private static func prepared(_ connection: Int32) -> Int32 {
        guard connection >= 0 else { return connection }
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(
            connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        #if canImport(Darwin)
            var yes: Int32 = 1
            setsockopt(
                connection, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return connection
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func port(of socket: Int32) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withPointer(to: &address) { pointer, _ in getsockname(socket, pointer, &size) }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func withPointer(
        to address: inout sockaddr_in,
        _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func failure(_ call: String) -> LoopbackServer.Failure {
        LoopbackServer.Failure(description: "\(call): \(String(cString: strerror(errno)))")
    }
}

/// A flag that is set once, and never cleared.
final class Flag: Sendable {
    private let raised = Atomic(false)

    var isRaised: Bool { raised.load(ordering: .acquiring) }

    /// Returns whether this call was the first.
    func raise() -> Bool { !raised.exchange(true, ordering: .acquiringAndReleasing) }
}
