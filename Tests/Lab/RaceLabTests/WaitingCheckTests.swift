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

    /// Every interleaving is such a deadlock, and nothing else is found.
    private func expectDeadlock(
        _ exploration: Exploration, _ reason: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let summary = "\(exploration.summary)"
        #expect(exploration.inconclusive == nil, sourceLocation: sourceLocation)
        #expect(
            exploration.findings.map(\.description) == ["deadlock: \(reason)"], "\(summary)",
            sourceLocation: sourceLocation)
        #expect(
            exploration.findings.first?.count == exploration.explored, "\(summary)",
            sourceLocation: sourceLocation)
    }

    @Test("for a lock that a thread has not released", arguments: [false, true])
    func lock(isRecursive: Bool) {
        let taken = place(5)
        let exploration = explore { scenario in
            let lock: any NSLocking = isRecursive ? NSRecursiveLock() : NSLock()
            let shared = Shared()
            scenario.thread("keeper") {
                lock.lock()
                shared.value = 1
            }
            scenario.thread("other") { shared.value = 2 }
            scenario.check { lock.lock() }
        }
        let expected = "a check waits at \(place(-2)) for the lock that 'keeper' took at \(taken)"
        #expect(exploration.reasons(.deadlock) == [expected], "\(exploration.summary)")
        #expect(exploration.explored == 2)
    }

    @Test("for a lock that it cannot take: then an attempt fails", arguments: [false, true])
    func attempt(isRecursive: Bool) {
        let exploration = explore { scenario in
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
        #expect(exploration.survives, "\(exploration.summary)")
    }

    @Test("for a lock, in a child process")
    func isolated() {
        let taken = place(3)
        let exploration = explore(options: .isolated) { scenario in
            let lock = NSLock()
            scenario.thread("keeper") { lock.lock() }
            scenario.check { lock.withLock {} }
        }
        let waits = place(-2)
        expectDeadlock(
            exploration, "a check waits at \(waits) for the lock that 'keeper' took at \(taken)")
    }

    @Test("for a lock of its own")
    func ownLock() {
        let exploration = explore { scenario in
            let (lock, shared) = (NSLock(), Shared())
            scenario.thread("other") { lock.withLock { shared.value = 1 } }
            scenario.check {
                lock.lock()
                lock.lock()
            }
        }
        expectDeadlock(exploration, "a check waits at \(place(-3)) for a lock")
    }

    @Test("for a readers-writer lock", arguments: [false, true])
    func readersWriterLock(isKeptByWriter: Bool) {
        let taken = place(5 + (isKeptByWriter ? 0 : 2))
        let exploration = explore { scenario in
            let shared = ReadersWriterLock()
            scenario.thread("keeper") {
                if isKeptByWriter {
                    pthread_rwlock_wrlock(shared.lock)
                } else {
                    pthread_rwlock_rdlock(shared.lock)
                }
            }
            scenario.check { pthread_rwlock_wrlock(shared.lock) }
        }
        let waits = place(-2)
        expectDeadlock(
            exploration, "a check waits at \(waits) for the lock that 'keeper' took at \(taken)")
    }

    @Test("for a lock, in work that it has sent to a queue", arguments: [false, true])
    func inWork(isSent: Bool) {
        let exploration = explore { scenario in
            let (lock, queue) = (NSLock(), DispatchQueue(label: "work"))
            scenario.thread("keeper") { lock.lock() }
            scenario.check {
                if isSent { queue.async { lock.lock() } }
                queue.sync { if !isSent { lock.lock() } }
            }
        }
        // If the work was sent, what waits for it could still release the lock.
        #expect(exploration.reasons(.deadlock).count == (isSent ? 0 : 1), "\(exploration.summary)")
        #expect((exploration.blocked != nil) == isSent, "\(exploration.summary)")
    }

    @Test("for a lock that the check itself releases, while work waits for it")
    func releasedLater() {
        let exploration = explore { scenario in
            let (lock, queue, shared) = (NSLock(), DispatchQueue(label: "work"), Shared())
            scenario.thread("other") { shared.value = 1 }
            scenario.check {
                lock.lock()
                DispatchQueue.global().async { lock.withLock {} }
                queue.sync {}
                lock.unlock()
            }
        }
        #expect(exploration.reasons(.deadlock) == [], "\(exploration.summary)")
    }

    @Test("for a semaphore, a condition or a group: then something outside may help")
    func noLock() {
        let waits: [@Sendable () -> Void] = [
            { DispatchSemaphore(value: 0).wait() },
            {
                let condition = NSCondition()
                condition.lock()
                condition.wait()
            },
            {
                let group = DispatchGroup()
                group.enter()
                group.wait()
            },
        ]
        for wait in waits {
            let exploration = explore { scenario in
                let shared = Shared()
                scenario.thread("other") { shared.value = 1 }
                scenario.check { wait() }
            }
            #expect(exploration.blocked?.thread == "set-up or check", "\(exploration.summary)")
        }
    }

    @Test("A semaphore has the count that the threads have left")
    func rest() {
        let exploration = explore { scenario in
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
        }
        #expect(exploration.survives, "\(exploration.summary)")
    }

    @Test("A semaphore that is older than the run has its first count again in the next one")
    func olderThanTheRun() {
        let semaphore = DispatchSemaphore(value: 1)
        let exploration = explore { scenario in
            let (shared, taken) = (Shared(), Shared())
            scenario.thread("keeper") {
                taken.value = semaphore.wait(timeout: .now()) == .success ? 1 : 0
                shared.value = 1
            }
            scenario.thread("other") { shared.value = 2 }
            scenario.check { try Scenario.require(taken.value == 1, "nothing was left") }
        }
        #expect(exploration.explored == 2)
        #expect(exploration.inconclusive == nil)
        #expect(exploration.reasons(.failedCheck) == [], "\(exploration.summary)")
    }

    @Test("A semaphore that the set-up has taken can be freed, whatever the threads leave")
    func takenInSetUp() {
        let exploration = explore { scenario in
            let (gate, shared) = (DispatchSemaphore(value: 1), Shared())
            gate.wait()
            scenario.thread("opener") { gate.signal() }
            for name in ["a", "b", "c"] {
                scenario.thread(name) {
                    let isIn = gate.wait(timeout: .now() + 1) == .success
                    shared.value += 1
                    if isIn { gate.signal() }
                }
            }
        }
        #expect(exploration.inconclusive == nil, "\(exploration.summary)")
        #expect(exploration.reasons(.deadlock) == [], "\(exploration.summary)")
    }

    @Test("The outcome, and the end of an object, can wait as well", arguments: [false, true])
    func afterChecks(isOutcome: Bool) {
        let taken = place(6)
        let exploration = explore { scenario in
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
        let waits =
            isOutcome
            ? "the outcome waits at \(place(-6))"
            : "the end of an object waits at \(LockingDeinit.waits)"
        expectDeadlock(exploration, "\(waits) for the lock that 'keeper' took at \(taken)")
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
