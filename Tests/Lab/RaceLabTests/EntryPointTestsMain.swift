import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// Tests that could end the process explore in a child process.
@Suite("The main queue is the main thread", .needsTheLab)
struct MainQueueTests {
    @MainActor private final class Model {
        var value = 0
        nonisolated init() {}
        func increment() { value += 1 }
    }

    @Test(
        "has its known result",
        arguments: programs
            + [true, false].flatMap { [checks(isSync: $0), oneThread(isSync: $0)] })
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram("a branch for the main thread is taken there") { scenario in
            @Sendable func onMain(_ work: @escaping @Sendable () -> Void) {
                if Thread.isMainThread { work() } else { DispatchQueue.main.async(execute: work) }
            }
            let log = Scenario.Log<String>()
            scenario.thread("sender") {
                onMain {
                    onMain { log.append("inner") }
                    log.append("outer")
                }
            }
            scenario.check {
                try Scenario.require(log.entries == ["inner", "outer"], "\(log.entries)")
            }
        },
        KnownProgram(
            "waiting for the main queue on the main thread: a deadlock", .deadlock,
            reason: ["waits at"]
        ) {
            scenario in
            let shared = Shared()
            scenario.thread("sender") {
                DispatchQueue.main.async { DispatchQueue.main.sync { shared.value = 1 } }
            }
        },
        KnownProgram(
            "the main thread waits for a task that waits to begin on the main actor: a deadlock",
            .deadlock,
            sentence: "'queue thread 2' waits at \(place(10)) for a semaphore to be signalled; "
                + "'task 3' waits at \(place(5)) to begin on MainActor, which 'queue thread 2' holds"
        ) { scenario in
            let (model, semaphore) = (Model(), DispatchSemaphore(value: 0))
            scenario.thread("sender") {
                DispatchQueue.main.async {
                    Task {
                        model.increment()
                        semaphore.signal()
                    }
                    semaphore.wait()
                }
            }
        },
        KnownProgram(
            "the main thread waits for a task that waits for the main actor: a deadlock",
            .deadlock, alwaysFails: false,
            reason: [
                "'other' waits at \(place(5)) for MainActor, which 'queue thread 3' holds"
            ]
        ) { scenario in
            let (model, semaphore) = (Model(), DispatchSemaphore(value: 0))
            scenario.task("other") {
                await model.increment()
                semaphore.signal()
            }
            scenario.thread("sender") { DispatchQueue.main.async { semaphore.wait() } }
        },
        KnownProgram(
            "code that is isolated to the main actor runs there, with all checks of Swift 6",
            explored: 2...(.max), options: .isolated
        ) { scenario in
            let (model, log) = (Model(), Scenario.Log<Int>())
            scenario.threads("first", "second") {
                DispatchQueue.main.async {
                    model.value += 1
                    log.append(model.value)
                }
            }
            scenario.check { try Scenario.require(log.entries == [1, 2], "\(log.entries)") }
        },
        KnownProgram(
            "code for the main thread traps on other threads, as it does without the lab", .crash,
            options: .isolated
        ) { scenario in
            let shared = Shared()
            scenario.thread("sender") {
                shared.value = 1
                MainActor.assumeIsolated {}
            }
        },
        KnownProgram("code for other threads traps on the main thread", .crash, options: .isolated)
        { scenario in
            let shared = Shared()
            scenario.thread("sender") {
                DispatchQueue.main.async {
                    shared.value = 1
                    dispatchPrecondition(condition: .notOnQueue(.main))
                }
            }
        },
    ]

    private static func checks(isSync: Bool) -> KnownProgram {
        let key = DispatchSpecificKey<Int>()
        DispatchQueue.main.setSpecific(key: key, value: 7)
        return KnownProgram(
            "checks for the main thread succeed there, in synchronous work: \(isSync)",
            options: .isolated
        ) { scenario in
            let (model, log) = (Model(), Scenario.Log<String>())
            let ask: @Sendable () -> Void = {
                dispatchPrecondition(condition: .onQueue(.main))
                MainActor.assumeIsolated { model.value += 1 }
                MainActor.preconditionIsolated()
                let found = DispatchQueue.getSpecific(key: key)
                log.append("\(Thread.isMainThread) \(found ?? 0)")
            }
            scenario.thread("sender") {
                log.append("\(Thread.isMainThread)")
                dispatchPrecondition(condition: .notOnQueue(.main))
                if isSync { DispatchQueue.main.sync(execute: ask) }
                if !isSync { DispatchQueue.main.async(execute: ask) }
            }
            scenario.check {
                try Scenario.require(log.entries == ["false", "true 7"], "\(log.entries)")
            }
        }
    }

    private static func oneThread(isSync: Bool) -> KnownProgram {
        KnownProgram(
            "all work runs on one thread, also synchronous work: \(isSync)",
            threads: ["first", "second", "queue thread 3"]
        ) { scenario in
            let log = Scenario.Log<pthread_t>()
            scenario.threads("first", "second") {
                if isSync { DispatchQueue.main.sync { log.append(pthread_self()) } }
                if !isSync { DispatchQueue.main.async { log.append(pthread_self()) } }
            }
            scenario.check { try Scenario.require(Set(log.entries).count == 1, "several threads") }
        }
    }
}

@Suite("Work that is sent to queues during set-up", .needsTheLab)
struct SetUpWorkTests {
    private typealias Kind = DispatchQueueEntryPointTests.Kind

    @Test("has its known result", arguments: programs + kinds)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram("runs in the order of each queue") { scenario in
            let (shared, queue) = (Shared(), DispatchQueue(label: "serial"))
            queue.async {
                queue.async { shared.items.append(2) }
                DispatchQueue.global().sync {}
                shared.items.append(1)
            }
            scenario.thread("only") { shared.value = 1 }
            scenario.check { try Scenario.require(shared.items == [1, 2], "\(shared.items)") }
        }
    ]

    private static let kinds = Kind.allCases.flatMap { kind in
        [
            KnownProgram("runs before the threads begin, on a \(kind) queue", explored: 1...1) {
                scenario in
                let queue = kind.queue
                let shared = Shared()
                queue.async {
                    queue.async { shared.value += 1 }
                    shared.value += 1
                }
                scenario.thread("only") { shared.value += 1 }
                scenario.check { try Scenario.require(shared.value == 3, "\(shared.value)") }
            },
            KnownProgram("runs when set-up waits for it, on a \(kind) queue") { scenario in
                let queue = kind.queue
                let (semaphore, condition) = (DispatchSemaphore(value: 0), NSCondition())
                let shared = Shared()
                queue.async {
                    shared.value += 1
                    semaphore.signal()
                }
                semaphore.wait()
                queue.async {
                    condition.lock()
                    shared.value += 1
                    condition.signal()
                    condition.unlock()
                }
                condition.lock()
                while shared.value < 2 { condition.wait() }
                condition.unlock()
                queue.async { shared.value += 1 }
                queue.sync { shared.value *= 2 }
                scenario.thread("only") { shared.other = shared.value }
                scenario.check { try Scenario.require(shared.other == 6, "\(shared.other)") }
            },
        ]
    }
}
