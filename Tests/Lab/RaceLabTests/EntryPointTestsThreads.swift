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

    @Test("has its known result", arguments: programs)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram(
            "a started thread races with its starter", .overlap,
            reason: ["EntryPointTestsThreads.swift:"],
            threads: ["starter", "started thread 2"]
        ) { scenario in
            let shared = Shared()
            scenario.thread("starter") {
                shared.other = 1
                Thread.detachNewThread {
                    shared.other = 2
                    shared.value = 1
                }
                shared.value = 2
            }
        },
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
    ]

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
