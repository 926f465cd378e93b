import RaceLab

// Tasks that wait for the elements of a stream.

extension TaskExample {
    static let streams = [
        TaskExample("a stream orders what was done before") { scenario, notebook in
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            scenario.task("producer") {
                notebook.value = 1
                continuation.yield()
                continuation.finish()
            }
            scenario.task("consumer") { for await _ in stream { _ = notebook.value } }
        },
        TaskExample("but not what is done afterwards", [.dataRace]) { scenario, notebook in
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            scenario.task("producer") {
                continuation.yield()
                notebook.value = 1
                continuation.finish()
            }
            scenario.task("consumer") { for await _ in stream { _ = notebook.value } }
        },
        TaskExample("a stream that is never finished", [.deadlock]) { scenario in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            let kept = Shelf<AsyncStream<Int>.Continuation>()
            kept.put(continuation)
            scenario.task("producer") { kept.look { $0.yield(1) } }
            scenario.task("consumer") { for await _ in stream {} }
        },
        TaskExample("a stream that throws", [.uncaughtError]) { scenario in
            let (stream, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
            scenario.task("producer") { continuation.finish(throwing: Trouble.any) }
            scenario.task("consumer") { for try await _ in stream {} }
        },
    ]
}
