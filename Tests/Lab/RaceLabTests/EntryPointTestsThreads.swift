import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

@Suite("The lab controls the start and end of threads", .needsTheLab)
struct ThreadEntryPointTests {
    /// Runs `body` on a new thread that can be joined.
    static func start(_ body: @escaping () -> Void) -> pthread_t {
        final class Box {
            let body: () -> Void
            init(_ body: @escaping () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        let result = pthread_create(
            &thread, nil,
            { box in
                Unmanaged<Box>.fromOpaque(box!).takeRetainedValue().body()
                return nil
            }, box)
        precondition(result == 0)
        return thread
    }

    @Test("a started thread races with its starter")
    func startedThreadRaces() throws {
        let describe = { (scenario: Scenario) in
            let shared = Shared()
            scenario.thread("starter") {
                shared.other = 1
                Thread.detachNewThread {
                    shared.other = 2
                    shared.value = 1
                }
                shared.value = 2
            }
        }
        let exploration = explore(describe)
        #expect(exploration.threads == ["starter", "started thread 2"])
        #expect(exploration.reasons(.overlap).count == 1, "\(exploration.summary)")
        let trace = try #require(try exploration.counterexample())
        #expect(trace.threads == ["starter", "started thread 2"])
        #expect(trace.scheduleText.contains("Z"))
        #expect(try Exploration.replay(trace.scheduleText, describe).schedule == trace.schedule)
    }

    @Test("has its known result", arguments: programs + severalThreads)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram("everything before the start happens before the thread") { scenario in
            let shared = Shared()
            scenario.thread("starter") {
                shared.value = 1
                Thread { shared.value += 1 }.start()
            }
            scenario.check { try Scenario.require(shared.value == 2, "not done") }
        },
        KnownProgram("after a join there is no race") { startAndCount($0, joins: true) },
        KnownProgram("without it there is", .overlap) { startAndCount($0, joins: false) },
        KnownProgram(
            "a started thread spins in every run, whatever was on its stack before", .deadlock,
            alwaysFails: true
        ) { scenario in
            let (shared, flags) = (Shared(), [Box(Atomic(0))])
            scenario.thread("other") { shared.value = 1 }
            scenario.thread("starter") {
                work(.add(1), on: flags)
                pthread_detach(start { work(.spin(until: 0), on: flags) })
            }
        },
        KnownProgram("a thread can exit early, and its thread-specific values are its own") {
            scenario in
            let shared = Shared()
            scenario.thread("starter") {
                let thread = start {
                    Thread.current.threadDictionary["mine"] = 1
                    shared.value += 1
                    pthread_exit(nil)
                }
                pthread_join(thread, nil)
                let next = start {
                    if Thread.current.threadDictionary["mine"] == nil { shared.value += 1 }
                }
                pthread_join(next, nil)
            }
            scenario.check { try Scenario.require(shared.value == 2, "not done") }
        },
        KnownProgram("destructors of thread-specific values are part of the thread", .overlap) {
            scenario in
            let shared = Shared()
            scenario.thread("starter") {
                Thread.detachNewThread {
                    // Meanwhile the starter can release the thread.
                    shared.other = 1
                    Thread.current.threadDictionary["last"] = AtEnd(shared)
                }
                shared.value += 1
            }
        },
    ]

    private static let severalThreads = [
        KnownProgram(
            "two threads that two threads have started run concurrently", .overlap,
            threads: ["first", "second", "started thread 3", "started thread 4"]
        ) { scenario in
            let shared = Shared()
            scenario.threads("first", "second") {
                let thread = start { shared.value += 1 }
                pthread_join(thread, nil)
            }
            scenario.check { try Scenario.require(shared.value == 2, "an increment was lost") }
        },
        KnownProgram(
            "two threads that join each other: a deadlock", .deadlock, alwaysFails: true,
            reason: [
                "'starter' waits at EntryPointTestsThreads.swift:",
                "for 'started thread 2' to end; 'started thread 2' waits at ",
                "for the lock that 'starter' took at ",
            ]
        ) { scenario in
            let lock = NSLock()
            scenario.thread("starter") {
                lock.lock()
                let thread = start { lock.withLock {} }
                pthread_join(thread, nil)
                lock.unlock()
            }
        },
        KnownProgram("32 threads fit, one more does not", noVerdict: "'starter' starts one") {
            scenario in
            let shared = Shared()
            scenario.thread("starter") {
                for _ in 1...32 { Thread.detachNewThread { shared.value = 1 } }
            }
        },
    ]

    private static func startAndCount(_ scenario: Scenario, joins: Bool) {
        let shared = Shared()
        scenario.thread("starter") {
            let thread = start { shared.value += 1 }
            if joins { pthread_join(thread, nil) } else { pthread_detach(thread) }
            shared.value += 1
        }
    }

    private enum Work {
        case spin(until: Int)
        case add(Int)
    }

    /// Leaves on the stack the object that it has taken from the array.
    private static func work(_ work: Work, on flags: [Box<Atomic<Int>>]) {
        switch work {
        case .spin(let value): while flags[0].value.load(ordering: .relaxed) != value {}
        case .add(let value): flags[0].value.wrappingAdd(value, ordering: .relaxed)
        }
    }

    private final class AtEnd {
        let shared: Shared

        init(_ shared: Shared) { self.shared = shared }

        deinit { shared.value += 1 }
    }
}
