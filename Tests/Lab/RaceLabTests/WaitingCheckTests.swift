import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// The code that judges a run is alone: nothing ends its wait. That is a deadlock.
@Suite("A check that waits forever", .needsTheLab)
struct WaitingCheckTests {
    private final class LockingDeinit: Sendable {
        static let waits = place(3)
        let lock: NSLock
        init(_ lock: NSLock) { self.lock = lock }
        deinit { lock.lock() }
    }

    private final class ReadersWriterLock: @unchecked Sendable {
        let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
        init() { pthread_rwlock_init(lock, nil) }
    }

    @Test("has its known result", arguments: locks + ends + others + withoutVerdict)
    func known(_ program: KnownProgram) { program.check() }

    private static let locks = [
        KnownProgram(
            "for a lock, in a child process", .deadlock, alwaysFails: true,
            sentence: "a check waits at \(place(5)) for the lock that 'keeper' took at \(place(4))",
            options: .isolated
        ) { scenario in
            let lock = NSLock()
            scenario.thread("keeper") { lock.lock() }
            scenario.check { lock.withLock {} }
        },
        KnownProgram(
            "for a lock of its own", .deadlock, alwaysFails: true,
            sentence: "a check waits at \(place(6)) for a lock"
        ) { scenario in
            let (lock, shared) = (NSLock(), Shared())
            scenario.thread("other") { lock.withLock { shared.value = 1 } }
            scenario.check {
                lock.lock()
                lock.lock()
            }
        },
        KnownProgram(
            "for a readers-writer lock that a reader keeps", .deadlock, alwaysFails: true,
            sentence: "a check waits at \(place(4)) for the lock that 'keeper' took at \(place(3))"
        ) { scenario in
            let shared = ReadersWriterLock()
            scenario.thread("keeper") { pthread_rwlock_rdlock(shared.lock) }
            scenario.check { pthread_rwlock_wrlock(shared.lock) }
        },
        KnownProgram(
            "for a lock, in work that it does on a queue", .deadlock,
            reason: ["a check waits at"]
        ) { scenario in
            let (lock, queue) = (NSLock(), DispatchQueue(label: "work"))
            scenario.thread("keeper") { lock.lock() }
            scenario.check { queue.sync { lock.lock() } }
        },
        KnownProgram(
            "for a lock that it releases, while work waits for it",
            noVerdict: "'set-up or check' blocks"
        ) { scenario in
            let (lock, queue, shared) = (NSLock(), DispatchQueue(label: "work"), Shared())
            scenario.thread("other") { shared.value = 1 }
            scenario.check {
                lock.lock()
                DispatchQueue.global().async { lock.withLock {} }
                queue.sync {}
                lock.unlock()
            }
        },
    ]

    private static let others = [
        KnownProgram("a semaphore has the count that the threads have left") { scenario in
            let (semaphore, shared) = (DispatchSemaphore(value: 3), Shared())
            let other = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
            sem_init(other, 0, 2)
            scenario.thread("keeper") {
                semaphore.wait()
                semaphore.wait()
                sem_wait(other)
                shared.value = 1
            }
            scenario.check {
                var count: Int32 = 0
                sem_getvalue(other, &count)
                try Scenario.require(count == 1, "the count is \(count)")
                semaphore.wait()
                let last = semaphore.wait(timeout: .now())
                for _ in 1...3 { semaphore.signal() }
                try Scenario.require(last == .timedOut, "four are taken")
            }
        },
        KnownProgram(
            "a semaphore that is older than the run has its first count again in the next one",
            .overlap, outcomes: ["1"], explored: 2...2
        ) { scenario in
            let (shared, taken) = (Shared(), Shared())
            scenario.thread("keeper") {
                taken.value = older.wait(timeout: .now()) == .success ? 1 : 0
                shared.value = 1
            }
            scenario.thread("other") { shared.value = 2 }
            scenario.outcome { "\(taken.value)" }
        },
        KnownProgram(
            "a semaphore that the set-up has taken can be freed, whatever the threads leave"
        ) { scenario in
            let (gate, shared) = (DispatchSemaphore(value: 1), Shared())
            gate.wait()
            scenario.thread("opener") { gate.signal() }
            scenario.threads("a", "b", "c") {
                let isIn = gate.wait(timeout: .now() + 1) == .success
                shared.value += 1
                if isIn { gate.signal() }
            }
        },
    ]

    private static let older = DispatchSemaphore(value: 1)

    private static let ends = [false, true].flatMap { isFirst in
        [
            keeps(isRecursive: isFirst), attempts(isRecursive: isFirst),
            afterChecks(isOutcome: isFirst),
        ]
    }

    private static func keeps(isRecursive: Bool) -> KnownProgram {
        let sentence =
            "a check waits at \(place(14)) for the lock that 'keeper' took at \(place(10))"
        return KnownProgram(
            "for a lock that a thread has not released, recursive: \(isRecursive)", .deadlock,
            .overlap,
            reason: [sentence],
            explored: 2...2
        ) { scenario in
            let lock: any NSLocking = isRecursive ? NSRecursiveLock() : NSLock()
            let shared = Shared()
            scenario.thread("keeper") {
                lock.lock()
                shared.value = 1
            }
            scenario.thread("other") { shared.value = 2 }
            scenario.check { lock.lock() }
        }
    }

    private static func attempts(isRecursive: Bool) -> KnownProgram {
        KnownProgram("an attempt at that lock fails, recursive: \(isRecursive)") { scenario in
            let (lock, recursive, shared) = (NSLock(), NSRecursiveLock(), Shared())
            scenario.thread("keeper") {
                if isRecursive { recursive.lock() } else { lock.lock() }
                shared.value = 1
            }
            scenario.check {
                let isTaken = isRecursive ? recursive.try() : lock.try()
                try Scenario.require(!isTaken, "taken")
                let date = Date(timeIntervalSinceNow: 100)
                let isTakenInTime =
                    isRecursive ? recursive.lock(before: date) : lock.lock(before: date)
                try Scenario.require(!isTakenInTime, "taken in time")
            }
        }
    }

    private static func afterChecks(isOutcome: Bool) -> KnownProgram {
        let waits =
            isOutcome
            ? "the outcome waits at \(place(14))"
            : "the end of an object waits at \(LockingDeinit.waits)"
        return KnownProgram(
            "the \(isOutcome ? "outcome" : "end of an object") waits as well", .deadlock,
            alwaysFails: true, sentence: "\(waits) for the lock that 'keeper' took at \(place(7))",
            outcomes: isOutcome ? [] : [""]
        ) { scenario in
            let lock = NSLock()
            let object = isOutcome ? nil : LockingDeinit(lock)
            scenario.thread("keeper") {
                keep(object)
                lock.lock()
            }
            scenario.outcome {
                if isOutcome { lock.lock() }
                return ""
            }
        }
    }

    /// Something outside may help: what waits for sent work could still release the lock.
    private static let withoutVerdict = [
        KnownProgram("for work that waits for a lock", noVerdict: "'set-up or check' blocks") {
            scenario in
            let (lock, queue) = (NSLock(), DispatchQueue(label: "work"))
            scenario.thread("keeper") { lock.lock() }
            scenario.check {
                queue.async { lock.lock() }
                queue.sync {}
            }
        },
        waiting("for a semaphore") { DispatchSemaphore(value: 0).wait() },
        waiting("for a condition") {
            let condition = NSCondition()
            condition.lock()
            condition.wait()
        },
        waiting("for a group") {
            let group = DispatchGroup()
            group.enter()
            group.wait()
        },
    ]

    private static func waiting(
        _ description: String, _ wait: @escaping @Sendable () -> Void
    ) -> KnownProgram {
        KnownProgram(description, noVerdict: "'set-up or check' blocks") { scenario in
            let shared = Shared()
            scenario.thread("other") { shared.value = 1 }
            scenario.check { wait() }
        }
    }
    @Test("A check that has failed before is a finding as well, and both are replayed")
    func afterFailure() throws {
        let exploration = explore { scenario in
            let lock = NSLock()
            let object = LockingDeinit(lock)
            scenario.thread("keeper") {
                keep(object)
                lock.lock()
            }
            scenario.check { throw Failure() }
        }
        #expect(exploration.findings.map(\.kind) == [.failedCheck, .deadlock])
        let trace = try #require(try exploration.counterexample())
        #expect(trace.findings.map(\.reason) == exploration.findings.map(\.reason))
        #expect(trace.waiting.isEmpty)
    }

    private struct Failure: Error {}
}
