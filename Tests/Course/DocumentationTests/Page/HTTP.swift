import Foundation
import SharedSuite

/// The part of HTTP that a WebDriver needs: one request to this machine, and one response with a
/// length. (URLSession for Linux rejects the responses of chromedriver.)
enum HTTP {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func send(_ method: String, port: Int, path: String, body: Data) async throws -> Data {
        try await onOwnThread { try exchange(method, port: port, path: path, body: body) }
    }

    private static func exchange(
        _ method: String, port: Int, path: String, body: Data
    ) throws -> Data {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let connection = socket(AF_INET, stream, 0)
        guard connection >= 0 else { throw Failure(description: "no socket") }
        defer { close(connection) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Failure(description: "no connection to port \(port)") }
        let head =
            "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
        try write(Data(head.utf8) + body, to: connection)
        return try answer(from: connection)
    }

    private static func write(_ data: Data, to connection: Int32) throws {
        var rest = data
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.write(connection, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(description: "the connection was closed") }
            rest = rest.dropFirst(count)
        }
    }

    private static func answer(from connection: Int32) throws -> Data {
        let end = Data("\r\n\r\n".utf8)
        var received = Data()
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            if let range = received.range(of: end) {
                let head = String(decoding: received[..<range.lowerBound], as: UTF8.self)
                let body = received[range.upperBound...]
                let length = head.lowercased().firstMatch(of: /content-length: *(\d+)/)
                if let length = length.flatMap({ Int($0.1) }), body.count >= length {
                    return Data(body.prefix(length))
                }
            }
            let count = read(connection, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw Failure(
                    description:
                        "an incomplete answer: \(String(decoding: received, as: UTF8.self))"
                )
            }
            received.append(contentsOf: buffer[..<count])
        }
    }
}
