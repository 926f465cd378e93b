import Foundation
import SharedSuite
import Testing

@testable import promise_lab

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The example of the article, against a server on the loopback interface.
@Suite("Two HTTP requests in sequence", .serialized)
struct HTTPExampleTests {
    @Test("the first request starts the second", arguments: Episode.Stage.allCases)
    func success(stage: Episode.Stage) async throws {
        #expect(
            try await events(.success, on: stage) == [
                .init(.server, "GET /first"),
                .init(.promise, "first request: one"),
                .init(.server, "GET /second"),
                .init(.promise, "second request: two"),
                .init(.promise, "all completed"),
            ])
    }

    @Test("if the first request fails, the second is never made", arguments: Episode.Stage.allCases)
    func failure(stage: Episode.Stage) async throws {
        #expect(
            try await events(.failure, on: stage) == [
                .init(.server, "GET /broken"),
                .init(.promise, "error: the server says 500"),
            ])
    }

    @Test("no server listens", arguments: Episode.Stage.allCases)
    func refusal(stage: Episode.Stage) async throws {
        #expect(
            try await events(.refusal, on: stage) == [
                .init(.server, "GET /first"),
                .init(.promise, "first request: one"),
                .init(.promise, "error: connection refused"),
            ])
    }

    @Test("the server does not respond", arguments: Episode.Stage.allCases)
    func silence(stage: Episode.Stage) async throws {
        // The server may or may not have received the second request by then: on a busy machine the
        // time limit may end first.
        let events = try await events(.silence, on: stage).filter { $0.source == .promise }
        #expect(
            events == [
                .init(.promise, "first request: one"),
                .init(.promise, "error: timed out"),
            ])
    }

    /// Runs the example on a thread that may block.
    private func events(
        _ example: Episode.Case, on stage: Episode.Stage
    ) async throws -> [Episode.Event] {
        let episode = try await onOwnThread { try Episode.run(example, on: stage, patience: 1) }
        return try #require(episode, "it has not come to an end in a minute").events
    }
}

@Suite("The loopback server")
struct LoopbackServerTests {
    @Test("responds to known paths, and with 404 to all others")
    func answers() async throws {
        let server = try LoopbackServer(["/here": .text("hello")])
        let (data, response) = try await URLSession.shared.data(from: server.url("/here"))
        #expect(String(decoding: data, as: UTF8.self) == "hello")
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        let (_, missing) = try await URLSession.shared.data(from: server.url("/elsewhere"))
        #expect((missing as? HTTPURLResponse)?.statusCode == 404)
    }

    @Test("stops when asked, even repeatedly, and no longer listens")
    func stops() async throws {
        let server = try LoopbackServer(["/silent": .silence])
        server.stop()
        server.stop()
        await #expect(throws: URLError.self) {
            try await URLSession.shared.data(from: server.url("/silent"))
        }
    }
}
