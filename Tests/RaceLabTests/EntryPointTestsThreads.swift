import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

@Suite("The lab hears threads start and end", .needsTheLab)
struct ThreadEntryPointTests {
    /// Runs `body` on a new thread that can be waited for.
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

    @Test("a thread that was started races with its starter")
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
        let report = explore(describe)
        #expect(report.threads == ["starter", "started thread 2"])
        #expect(report.reasons(.overlap).count == 1, "\(report.summary)")
        let trace = try #require(try report.counterexample())
        #expect(trace.threads == ["starter", "started thread 2"])
        #expect(trace.scheduleText.contains("Z"))
        #expect(try Exploration.replay(trace.scheduleText, describe).schedule == trace.schedule)
    }

    @Test("all that the starter did before is ordered before the thread")
    func startOrders() {
        let report = explore { scenario in
            let shared = Shared()
            scenario.thread("starter") {
                shared.value = 1
                Thread { shared.value += 1 }.start()
            }
            scenario.check { try Scenario.require(shared.value == 2, "not done") }
        }
        #expect(report.survives, "\(report.summary)")
    }

    @Test("after a join there is no race; without it there is", arguments: [true, false])
    func join(joins: Bool) {
        let report = explore { scenario in
            let shared = Shared()
            scenario.thread("starter") {
                let thread = Self.start { shared.value += 1 }
                if joins { pthread_join(thread, nil) } else { pthread_detach(thread) }
                shared.value += 1
            }
        }
        #expect(report.survives == joins, "\(report.summary)")
        #expect(report.reasons(.overlap).isEmpty == joins)
    }

    private enum Work {
        case spin(until: Int)
        case add(Int)
    }

    /// Leaves on the stack what it has taken out of the array.
    private static func work(_ work: Work, on flags: [Box<Atomic<Int>>]) {
        switch work {
        case .spin(let value): while flags[0].value.load(ordering: .relaxed) != value {}
        case .add(let value): flags[0].value.wrappingAdd(value, ordering: .relaxed)
        }
    }

    @Test("a started thread that spins does so in every run, whatever was on its stack before")
    func startedSpins() {
        let report = explore { scenario in
            let (shared, flags) = (Shared(), [Box(Atomic(0))])
            scenario.thread("other") { shared.value = 1 }
            scenario.thread("starter") {
                Self.work(.add(1), on: flags)
                pthread_detach(Self.start { Self.work(.spin(until: 0), on: flags) })
            }
        }
        #expect(report.inconclusive == nil, "\(report.summary)")
        #expect(report.findings.map(\.kind) == [.deadlock])
        #expect(report.passingSchedule == nil)
    }

    @Test("two threads started by two threads run side by side")
    func startedByTwo() {
        let report = explore { scenario in
            let shared = Shared()
            for name in ["first", "second"] {
                scenario.thread(name) {
                    let thread = Self.start { shared.value += 1 }
                    pthread_join(thread, nil)
                }
            }
            scenario.check { try Scenario.require(shared.value == 2, "an increment was lost") }
        }
        #expect(report.threads == ["first", "second", "started thread 3", "started thread 4"])
        #expect(!report.reasons(.overlap).isEmpty, "\(report.summary)")
    }

    @Test("a thread that waits for one which waits for it: a deadlock")
    func joinDeadlock() {
        let report = explore { scenario in
            let lock = NSLock()
            scenario.thread("starter") {
                lock.lock()
                let thread = Self.start { lock.withLock {} }
                pthread_join(thread, nil)
                lock.unlock()
            }
        }
        let reason = report.reasons(.deadlock).first ?? report.summary
        #expect(reason.contains("'starter' waits at EntryPointTestsThreads.swift:"))
        #expect(reason.contains("for 'started thread 2' to end; 'started thread 2' waits at "))
        #expect(reason.contains("for the lock that 'starter' took at "))
        #expect(report.passingSchedule == nil)
    }

    @Test("a thread can end early, and keeps what is its own to itself")
    func threadExit() {
        let report = explore { scenario in
            let shared = Shared()
            scenario.thread("starter") {
                let thread = Self.start {
                    Thread.current.threadDictionary["mine"] = 1
                    shared.value += 1
                    pthread_exit(nil)
                }
                pthread_join(thread, nil)
                let next = Self.start {
                    if Thread.current.threadDictionary["mine"] == nil { shared.value += 1 }
                }
                pthread_join(next, nil)
            }
            scenario.check { try Scenario.require(shared.value == 2, "not done") }
        }
        #expect(report.survives, "\(report.summary)")
    }

    private final class AtEnd {
        let shared: Shared

        init(_ shared: Shared) { self.shared = shared }

        deinit { shared.value += 1 }
    }

    @Test("what runs when a thread's own variables are destroyed is part of the thread")
    func threadLocalVariables() {
        let report = explore { scenario in
            let shared = Shared()
            scenario.thread("starter") {
                Thread.detachNewThread {
                    // Meanwhile the starter can let go of the thread.
                    shared.other = 1
                    Thread.current.threadDictionary["last"] = AtEnd(shared)
                }
                shared.value += 1
            }
        }
        #expect(!report.reasons(.overlap).isEmpty, "\(report.summary)")
    }

    @Test("there is room for 32 threads; one more is inconclusive")
    func tooMany() {
        let report = explore { scenario in
            let shared = Shared()
            scenario.thread("starter") {
                for _ in 1...32 { Thread.detachNewThread { shared.value = 1 } }
            }
        }
        #expect(report.inconclusive == .tooManyThreads(thread: "starter"), "\(report.summary)")
        #expect(!report.survives)
    }
}
