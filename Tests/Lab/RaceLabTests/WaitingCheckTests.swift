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

    @Test("for a semaphore, on a queue and in work that it has sent there", arguments: 0..<3)
    func semaphore(depth: Int) {
        let exploration = explore { scenario in
            let (semaphore, shared) = (DispatchSemaphore(value: 0), Shared())
            let queue = DispatchQueue(label: "work")
            scenario.thread("other") { shared.value = 1 }
            scenario.check {
                let wait: @Sendable () -> Void = { semaphore.wait() }
                switch depth {
                case 0: wait()
                case 1: queue.sync(execute: wait)
                default:
                    queue.async(execute: wait)
                    queue.sync {}
                }
            }
        }
        expectDeadlock(
            exploration, "a check waits at \(place(-11)) for a semaphore to be signalled")
    }

    @Test("for a semaphore that a thread has taken")
    func takenSemaphore() {
        let exploration = explore { scenario in
            let (semaphore, shared) = (DispatchSemaphore(value: 1), Shared())
            scenario.thread("keeper") {
                semaphore.wait()
                shared.value = 1
            }
            scenario.check { semaphore.wait() }
        }
        #expect(
            exploration.reasons(.deadlock) == [
                "a check waits at \(place(-2)) for a semaphore to be signalled"
            ], "\(exploration.summary)")
    }

    @Test("for no semaphore: what is left can be taken, and what the check signals counts")
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

    @Test("for a semaphore that work signals, which it has sent to a queue")
    func signalledSemaphore() {
        let exploration = explore { scenario in
            let (semaphore, shared) = (DispatchSemaphore(value: 0), Shared())
            scenario.thread("other") { shared.value = 1 }
            scenario.check {
                try Scenario.require(semaphore.wait(timeout: .now() + 100) == .timedOut, "early")
                DispatchQueue(label: "work").async { semaphore.signal() }
                semaphore.wait()
            }
        }
        #expect(exploration.survives, "\(exploration.summary)")
    }

    @Test("for a semaphore that a thread signals, which it has started")
    func signallingThread() {
        let exploration = explore { scenario in
            let (semaphore, shared) = (DispatchSemaphore(value: 0), Shared())
            scenario.thread("other") { shared.value = 1 }
            scenario.check {
                Thread.detachNewThread { semaphore.signal() }
                semaphore.wait()
            }
        }
        #expect(
            exploration.uncontrolled?.what
                == "starts a thread outside of the threads of the scenario",
            "\(exploration.summary)")
    }

    @Test("for a semaphore that delayed work signals, which is not done")
    func delayedSignal() {
        let exploration = explore { scenario in
            let (semaphore, shared) = (DispatchSemaphore(value: 0), Shared())
            scenario.thread("other") { shared.value = 1 }
            scenario.check {
                DispatchQueue.global().asyncAfter(deadline: .now() + 1) { semaphore.signal() }
                semaphore.wait()
            }
        }
        #expect(exploration.blocked?.thread == "set-up or check", "\(exploration.summary)")
    }

    @Test("for a POSIX semaphore")
    func posixSemaphore() {
        let exploration = explore { scenario in
            let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
            sem_init(semaphore, 0, 0)
            let shared = Shared()
            scenario.thread("other") { shared.value = 1 }
            scenario.check { sem_wait(semaphore) }
        }
        expectDeadlock(exploration, "a check waits at \(place(-2)) for a semaphore to be signalled")
    }

    @Test("for a condition")
    func condition() {
        let exploration = explore { scenario in
            let (condition, shared) = (NSCondition(), Shared())
            scenario.thread("other") { shared.value = 1 }
            scenario.check {
                condition.lock()
                condition.wait()
            }
        }
        expectDeadlock(exploration, "a check waits at \(place(-3)) to be woken by a signal")
    }

    @Test("for a group")
    func group() {
        let exploration = explore { scenario in
            let (group, shared) = (DispatchGroup(), Shared())
            scenario.thread("other") {
                shared.value = 1
                group.enter()
            }
            scenario.check { group.wait() }
        }
        expectDeadlock(exploration, "a check waits at \(place(-2)) for work to finish")
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

    @Test("A semaphore that the scenario did not make may be signalled elsewhere")
    func madeElsewhere() {
        let semaphore = DispatchSemaphore(value: 0)
        let exploration = explore { scenario in
            let shared = Shared()
            scenario.thread("other") { shared.value = 1 }
            scenario.check { semaphore.wait() }
        }
        #expect(exploration.blocked?.thread == "set-up or check", "\(exploration.summary)")
    }
}
