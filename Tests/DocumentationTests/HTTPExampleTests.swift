import Foundation
import HTTPExample
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The article's own example, against a server on the loopback interface.
@Suite("Two HTTP requests in sequence", .serialized)
struct HTTPExampleTests {
    @Test("the second is started by the first", arguments: Episode.Stage.allCases)
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

    @Test("a failing first request: the second is never made", arguments: Episode.Stage.allCases)
    func failure(stage: Episode.Stage) async throws {
        #expect(
            try await events(.failure, on: stage) == [
                .init(.server, "GET /broken"),
                .init(.promise, "error: the server says 500"),
            ])
    }

    @Test("nobody listens", arguments: Episode.Stage.allCases)
    func refusal(stage: Episode.Stage) async throws {
        #expect(
            try await events(.refusal, on: stage) == [
                .init(.server, "GET /first"),
                .init(.promise, "first request: one"),
                .init(.promise, "error: connection refused"),
            ])
    }

    @Test("no answer comes", arguments: Episode.Stage.allCases)
    func silence(stage: Episode.Stage) async throws {
        // Whether the server has heard of the second request by then is not for this test to say:
        // on a busy machine patience may end before.
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
        let episode = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try Episode.run(example, on: stage, patience: 1) })
            }
        }
        return try #require(episode, "it has not come to an end in a minute").events
    }
}

@Suite("The loopback server")
struct LoopbackServerTests {
    @Test("answers what it has, and 404 to everything else")
    func answers() async throws {
        let server = try LoopbackServer(["/here": .text("hello")])
        let (data, response) = try await URLSession.shared.data(from: server.url("/here"))
        #expect(String(decoding: data, as: UTF8.self) == "hello")
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        let (_, missing) = try await URLSession.shared.data(from: server.url("/elsewhere"))
        #expect((missing as? HTTPURLResponse)?.statusCode == 404)
    }

    @Test("stops when told to, more than once, and listens no longer")
    func stops() async throws {
        let server = try LoopbackServer(["/silent": .silence])
        server.stop()
        server.stop()
        await #expect(throws: URLError.self) {
            try await URLSession.shared.data(from: server.url("/silent"))
        }
    }
}
