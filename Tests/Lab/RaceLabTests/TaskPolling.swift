import Foundation
import RaceLab
import Synchronization

// Tasks that yield until something changes.

private actor PolledFlag {
    private(set) var isSet = false
    func set() { isSet = true }
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

extension TaskExample {
    static let polling = [
        TaskExample("only waits for a continuation", [.deadlock]) { scenario in
            scenario.task("waiter") { await withUnsafeContinuation { _ in } }
        },
        TaskExample("only sleeps") { scenario in
            scenario.task("sleeper") { try? await Task.sleep(for: .seconds(1)) }
        },
        TaskExample("yields until a flag is set", outcomes: ["2"]) { scenario, notebook in
            let shared = PolledFlags()
            scenario.task("setter") {
                notebook.value = 1
                shared.flag.store(true, ordering: .releasing)
            }
            scenario.task("poller") {
                while !shared.flag.load(ordering: .acquiring) { await Task.yield() }
                notebook.value += 1
            }
        },
        TaskExample("yields until a relaxed flag is set", [.dataRace]) { scenario, notebook in
            let shared = PolledFlags()
            scenario.task("setter") {
                notebook.value += 1
                shared.flag.store(true, ordering: .relaxed)
            }
            scenario.task("poller") {
                while !shared.flag.load(ordering: .relaxed) { await Task.yield() }
                notebook.value += 1
            }
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
        TaskExample("yields until a flag under a lock is set") { scenario in
            let plain = LockedFlag()
            scenario.thread("setter") { plain.set() }
            scenario.task("poller") { while !plain.isSet { await Task.yield() } }
        },
        TaskExample("yields until it is cancelled", task: "starter") { _ in
            let task = Task { while !Task.isCancelled { await Task.yield() } }
            task.cancel()
            await task.value
        },
        TaskExample("yields until it is cancelled, and nothing does", [.deadlock], task: "starter")
        { _ in
            let task = Task { while !Task.isCancelled { await Task.yield() } }
            await task.value
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
        TaskExample("two tasks wait for each other", [.deadlock]) { scenario in
            let shared = PolledFlags()
            scenario.task("first") {
                while !shared.flag.load(ordering: .acquiring) { await Task.yield() }
                shared.other.store(true, ordering: .releasing)
            }
            scenario.task("second") {
                while !shared.other.load(ordering: .acquiring) { await Task.yield() }
                shared.flag.store(true, ordering: .releasing)
            }
        },
        TaskExample("a function with a large frame yields a few times", outcomes: ["4"]) {
            scenario, notebook in
            scenario.task("counter") { notebook.value = await yieldOften(4) }
        },
        TaskExample("gives up after three rounds", outcomes: ["0", "1"]) { scenario, notebook in
            let shared = PolledFlags()
            scenario.thread("setter") { shared.flag.store(true, ordering: .releasing) }
            scenario.task("poller") {
                for _ in 0..<3 {
                    if shared.flag.load(ordering: .acquiring) {
                        notebook.value = 1
                        break
                    }
                    await Task.yield()
                }
            }
        },
        TaskExample("the main actor yields until a task is done") { scenario in
            let flags = PolledFlags()
            scenario.task("main") { await waitOnMainActor(for: flags) }
            scenario.task("other") { flags.flag.store(true, ordering: .releasing) }
        },
    ]
}
