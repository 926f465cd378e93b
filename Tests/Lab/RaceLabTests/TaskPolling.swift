import Foundation
import RaceLab
import Synchronization

// Tasks that wait until something changes, with and without yields.

private actor PolledFlag {
    private(set) var isSet = false
    func set() { isSet = true }
    func wait(for flags: PolledFlags) { while !flags.flag.load(ordering: .acquiring) {} }
}

private final class PolledFlags: Sendable {
    let flag = Atomic(false)
    let other = Atomic(false)
}

private final class LockedFlag: @unchecked Sendable {
    private let lock = NSLock()
    private var flag = false

    var isSet: Bool { lock.withLock { flag } }
    func set() { lock.withLock { flag = true } }
}

@inline(never) private func doSomethingElse() {}

@MainActor private func waitOnMainActor(for flags: PolledFlags) async {
    while !flags.flag.load(ordering: .acquiring) { await Task.yield() }
}

/// Yields so often. The frame of this function is larger than what the lab looks at.
@inline(never)
private func yieldOften(_ count: Int) async -> Int {
    var numbers = InlineArray<200, Int>(repeating: 0)
    while numbers[199] < count {
        await Task.yield()
        numbers[199] += 1
    }
    return numbers[199]
}

/// What a task does between two looks at a flag.
private enum Round: String, CaseIterable, CustomStringConvertible {
    case spins, yields, sleeps

    var description: String { rawValue }

    func pass() async {
        switch self {
        case .spins: break
        case .yields: await Task.yield()
        case .sleeps: try? await Task.sleep(for: .milliseconds(1))
        }
    }
}

extension TaskExample {
    static let polling = yielding + sleeping + pollingWithoutYields + Round.allCases.flatMap(loops)

    /// The same loops, whatever they do in each round.
    private static func loops(_ round: Round) -> [TaskExample] {
        [
            TaskExample("\(round) until a flag is set", outcomes: ["2"]) { scenario, notebook in
                let shared = PolledFlags()
                scenario.task("setter") {
                    notebook.value = 1
                    shared.flag.store(true, ordering: .releasing)
                }
                scenario.task("poller") {
                    while !shared.flag.load(ordering: .acquiring) { await round.pass() }
                    notebook.value += 1
                }
            },
            TaskExample("\(round) until a relaxed flag is set", [.dataRace]) { scenario, notebook in
                let shared = PolledFlags()
                scenario.task("setter") {
                    notebook.value += 1
                    shared.flag.store(true, ordering: .relaxed)
                }
                scenario.task("poller") {
                    while !shared.flag.load(ordering: .relaxed) { await round.pass() }
                    notebook.value += 1
                }
            },
            TaskExample("\(round) until it is cancelled", task: "starter") { _ in
                let task = Task { while !Task.isCancelled { await round.pass() } }
                task.cancel()
                await task.value
            },
            TaskExample(
                "\(round) until it is cancelled, and nothing does", [.deadlock], task: "starter"
            ) { _ in
                await Task { while !Task.isCancelled { await round.pass() } }.value
            },
            TaskExample("\(round), and gives up after three rounds", outcomes: ["0", "1"]) {
                scenario, notebook in
                let shared = PolledFlags()
                scenario.thread("setter") { shared.flag.store(true, ordering: .releasing) }
                scenario.task("poller") {
                    for _ in 0..<3 {
                        if shared.flag.load(ordering: .acquiring) { notebook.value = 1 }
                        await round.pass()
                    }
                }
            },
            TaskExample("\(round) until a flag under a lock is set") { scenario in
                let plain = LockedFlag()
                scenario.thread("setter") { plain.set() }
                scenario.task("poller") { while !plain.isSet { await round.pass() } }
            },
            TaskExample("\(round) while another task does, and answers it", outcomes: ["1"]) {
                scenario, notebook in
                let shared = PolledFlags()
                scenario.task("first") {
                    while !shared.flag.load(ordering: .acquiring) { await round.pass() }
                    notebook.value = 1
                    shared.other.store(true, ordering: .releasing)
                }
                scenario.task("second") {
                    shared.flag.store(true, ordering: .releasing)
                    while !shared.other.load(ordering: .acquiring) { await round.pass() }
                    _ = notebook.value
                }
            },
            TaskExample("\(round), and so does the task that it waits for", [.deadlock]) {
                scenario in
                let shared = PolledFlags()
                scenario.task("first") {
                    while !shared.flag.load(ordering: .acquiring) { await round.pass() }
                    shared.other.store(true, ordering: .releasing)
                }
                scenario.task("second") {
                    while !shared.other.load(ordering: .acquiring) { await round.pass() }
                    shared.flag.store(true, ordering: .releasing)
                }
            },
        ]
    }

    private static let sleeping = [
        TaskExample("sleeps until a flag of an actor is set") { scenario in
            let flag = PolledFlag()
            scenario.task("setter") { await flag.set() }
            scenario.task("poller") { while await !flag.isSet { await Round.sleeps.pass() } }
        },
        TaskExample("sleeps until a task is done that sleeps longer", outcomes: ["1"]) {
            scenario, notebook in
            let shared = PolledFlags()
            scenario.task("setter") {
                try? await Task.sleep(for: .seconds(1))
                notebook.value = 1
                shared.flag.store(true, ordering: .releasing)
            }
            scenario.task("poller") {
                while !shared.flag.load(ordering: .acquiring) { await Round.sleeps.pass() }
            }
        },
        TaskExample("sleeps longer in each round, up to a limit", outcomes: ["1"]) {
            scenario, notebook in
            let shared = PolledFlags()
            scenario.task("setter") {
                notebook.value = 1
                shared.flag.store(true, ordering: .releasing)
            }
            scenario.task("poller") {
                var milliseconds = 1
                while !shared.flag.load(ordering: .acquiring) {
                    try? await Task.sleep(for: .milliseconds(milliseconds))
                    milliseconds = min(2 * milliseconds, 4)
                }
                _ = notebook.value
            }
        },
        TaskExample("sleeps until its time is over") { scenario in
            let shared = PolledFlags()
            scenario.task("poller") {
                let end = ContinuousClock.now + .milliseconds(5)
                while !shared.flag.load(ordering: .acquiring), ContinuousClock.now < end {
                    await Round.sleeps.pass()
                }
            }
        },
    ]

    private static let yielding = [
        TaskExample("only waits for a continuation", [.deadlock]) { scenario in
            scenario.task("waiter") { await withUnsafeContinuation { _ in } }
        },
        TaskExample("only sleeps") { scenario in
            scenario.task("sleeper") { try? await Task.sleep(for: .seconds(1)) }
        },
        TaskExample("yields until a flag of an actor is set") { scenario in
            let flag = PolledFlag()
            scenario.task("setter") { await flag.set() }
            scenario.task("poller") { while await !flag.isSet { await Task.yield() } }
        },
        TaskExample("yields until a flag of an actor is set, which never is", [.deadlock]) {
            scenario in
            let flag = PolledFlag()
            scenario.task("poller") { while await !flag.isSet { await Task.yield() } }
        },
        TaskExample(
            "yields in a group until it is cancelled, which another task's error causes",
            task: "starter"
        ) { _ in
            try? await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { while !Task.isCancelled { await Task.yield() } }
                group.addTask { throw CancellationError() }
                for try await _ in group {}
            }
        },
        TaskExample("a function with a large frame yields a few times", outcomes: ["4"]) {
            scenario, notebook in
            scenario.task("counter") { notebook.value = await yieldOften(4) }
        },
        TaskExample("the main actor yields until a task is done") { scenario in
            let flags = PolledFlags()
            scenario.task("main") { await waitOnMainActor(for: flags) }
            scenario.task("other") { flags.flag.store(true, ordering: .releasing) }
        },
    ]

    private static let pollingWithoutYields = [
        TaskExample("spins until a flag in a mutex is set") { scenario in
            let flag = Box(Mutex(false))
            scenario.task("setter") { flag.value.withLock { $0 = true } }
            scenario.task("poller") { while !flag.value.withLock({ $0 }) {} }
        },
        TaskExample("checks until it is cancelled", outcomes: ["1"], task: "starter") { notebook in
            let task = Task { while true { try Task.checkCancellation() } }
            task.cancel()
            if case .failure = await task.result { notebook.value = 1 }
        },
        TaskExample("awaits an actor until its flag is set") { scenario in
            let flag = PolledFlag()
            scenario.task("setter") { await flag.set() }
            scenario.task("poller") { while await !flag.isSet { doSomethingElse() } }
        },
        // Between two calls this task does nothing, so the compiler has it stay on the actor.
        TaskExample("keeps an actor until its flag is set", [.deadlock]) { scenario in
            let flag = PolledFlag()
            scenario.task("setter") { await flag.set() }
            scenario.task("poller") { while await !flag.isSet {} }
        },
        TaskExample("awaits an actor until its flag is set, which never is", [.deadlock]) {
            scenario in
            let flag = PolledFlag()
            scenario.task("poller") { while await !flag.isSet { doSomethingElse() } }
        },
        TaskExample("spins on an actor until a thread sets a flag") { scenario in
            let (actor, flags) = (PolledFlag(), PolledFlags())
            scenario.task("poller") { await actor.wait(for: flags) }
            scenario.thread("setter") { flags.flag.store(true, ordering: .releasing) }
        },
        TaskExample("spins on an actor until a task sets a flag after it", [.deadlock]) {
            scenario in
            let (actor, flags) = (PolledFlag(), PolledFlags())
            scenario.task("poller") { await actor.wait(for: flags) }
            scenario.task("setter") {
                await actor.set()
                flags.flag.store(true, ordering: .releasing)
            }
        },
        TaskExample("two tasks spin until the other one is ready") { scenario in
            let shared = PolledFlags()
            scenario.task("first") {
                shared.other.store(true, ordering: .releasing)
                while !shared.flag.load(ordering: .acquiring) {}
            }
            scenario.task("second") {
                while !shared.other.load(ordering: .acquiring) {}
                shared.flag.store(true, ordering: .releasing)
            }
        },
        TaskExample("gives up after three questions to an actor", outcomes: ["0", "1"]) {
            scenario, notebook in
            let flag = PolledFlag()
            scenario.task("setter") { await flag.set() }
            scenario.task("poller") {
                for _ in 0..<3 where await flag.isSet { notebook.value = 1 }
            }
        },
    ]

    /// Tasks that wait for the elements of a stream.
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
