import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

@Suite("The lab controls locks, conditions and semaphores", .needsTheLab)
struct LockEntryPointTests {
    @Test("has its known result", arguments: programs + conditions + ownerLocks)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram(
            "objects with locks of their own are independent: one interleaving", explored: 1...1
        ) { scenario in
            for name in ["first", "second"] {
                let tally = Tally()
                scenario.thread(name) { for _ in 0..<2 { tally.add() } }
            }
        },
        KnownProgram("errors of the engine's own calls do not reach the code under test") {
            scenario in
            let (shared, lock) = (Shared(), NSLock())
            let errors = [Shared(), Shared()]
            for (index, error) in errors.enumerated() {
                scenario.thread("\(index)") {
                    errno = EDOM
                    for _ in 0..<2 { lock.withLock { shared.value += 1 } }
                    error.value = Int(errno)
                }
            }
            scenario.check {
                for error in errors {
                    try Scenario.require(error.value == Int(EDOM), "\(error.value)")
                }
            }
        },
        KnownProgram("an attempt that is followed by a wait at the same place is no loop") {
            scenario in
            let locks = [NSLock(), NSLock()]
            for (name, own, other) in [("first", 0, 1), ("second", 1, 0)] {
                scenario.thread(name) {
                    locks[own].withLock {
                        guard locks[other].lock(before: Date() + 3600) else { return }
                        locks[other].unlock()
                    }
                }
            }
            scenario.thread("own") {
                let lock = NSLock()
                lock.lock()
                _ = lock.lock(before: Date() + 3600)
                lock.unlock()
            }
        },
        KnownProgram(
            "a reader blocks a writer, and is named when both wait forever", .deadlock,
            reason: ["that 'reader' took at"]
        ) { scenario in
            let (lock, gate) = (ReadWriteLock(), NSLock())
            scenario.thread("reader") { lock.read { gate.withLock {} } }
            scenario.thread("writer") { gate.withLock { lock.write {} } }
        },
        KnownProgram(
            "two locks taken in opposite order: a deadlock that names all places", .deadlock,
            sentence: "'there' waits at \(place(6)) for the lock that 'back' took at \(place(11)); "
                + "'back' waits at \(place(11)) for the lock that 'there' took at \(place(4))"
        ) { scenario in
            let (one, two) = (NSLock(), NSLock())
            scenario.thread("there") {
                one.lock()
                two.lock()
                two.unlock()
                one.unlock()
            }
            scenario.thread("back") {
                two.lock()
                one.lock()
                one.unlock()
                two.unlock()
            }
        },
        KnownProgram(
            "`withLock`, which is inlined without lines, is reported at its caller", .deadlock,
            sentence: "'only' waits at \(place(5)) for the lock that it took itself at \(place(4))"
        ) { scenario in
            let (shared, lock) = (Shared(), NSLock())
            scenario.thread("only") {
                lock.withLock {
                    shared.value = lock.withLock { 1 }
                }
            }
        },
    ]

    private static let conditions = [
        KnownProgram(
            "a signal that finds no waiting thread is lost", .deadlock, .dataRace,
            reason: [
                "'waiter' waits at EntryPointTestsLocks.swift:", "to be woken by a signal",
            ]
        ) { scenario in
            let (shared, condition) = (Shared(), NSCondition())
            scenario.thread("waiter") {
                if shared.isReady { return }
                condition.lock()
                condition.wait()
                condition.unlock()
            }
            scenario.thread("signaller") {
                condition.lock()
                shared.isReady = true
                condition.signal()
                condition.unlock()
            }
        },
        KnownProgram("repeated signals wake threads that begin to wait in between") { scenario in
            let (isDone, condition) = (Box(Atomic(false)), NSCondition())
            scenario.thread("signaller") {
                while !isDone.value.load(ordering: .relaxed) { condition.broadcast() }
            }
            scenario.thread("waiter") {
                condition.lock()
                condition.wait()
                condition.unlock()
                isDone.value.store(true, ordering: .relaxed)
            }
        },
        KnownProgram("an NSConditionLock waits for its value") { scenario in
            let (shared, lock) = (Shared(), NSConditionLock(condition: 0))
            scenario.thread("second") {
                // Without a date, Foundation for Linux converts the distant future to nanoseconds.
                // That overflows and traps, with or without the lab.
                guard lock.lock(whenCondition: 1, before: Date() + 3600) else { return }
                shared.items.append(2)
                lock.unlock()
            }
            scenario.thread("first") {
                lock.lock()
                shared.items.append(1)
                lock.unlock(withCondition: 1)
            }
            scenario.check { try Scenario.require(shared.items == [1, 2], "out of order") }
        },
        KnownProgram(
            "a semaphore that no thread signals: a deadlock", .deadlock,
            sentence: "'only' waits at \(place(5)) for a semaphore to be signalled"
        ) { scenario in
            let semaphore = DispatchSemaphore(value: 1)
            scenario.thread("only") {
                semaphore.wait()
                semaphore.wait()
            }
        },
    ]

    /// A counter whose property lies before its lock.
    private final class Tally: @unchecked Sendable {
        private var count = 0
        private let lock = NSLock()

        func add() {
            lock.lock()
            count += 1
            lock.unlock()
        }
    }

    private static let survivingLock = {
        let (one, two) = (NSLock(), NSLock())
        return KnownProgram(
            "a lock that outlives the scenario is free again after a deadlock", .deadlock,
            alwaysFails: false
        ) { scenario in
            scenario.thread("there") { one.withLock { two.withLock {} } }
            scenario.thread("back") { two.withLock { one.withLock {} } }
            scenario.check { one.withLock { two.withLock {} } }
        }
    }()

    /// A lock that holds the number of its owner, like `Mutex`, and is none.
    private final class OwnerLock: Sendable {
        let owner = Atomic<UInt32>(0)

        func tryLock() -> Bool {
            owner.compareExchange(
                expected: 0, desired: UInt32(gettid()), ordering: .acquiring
            ).exchanged
        }

        func lock() {
            while !tryLock() { sched_yield() }
        }

        func unlock() {
            _ = owner.compareExchange(
                expected: UInt32(gettid()), desired: 0, ordering: .releasing)
        }
    }

    private static let ownerLocks: [KnownProgram] = [
        survivingLock,
        KnownProgram("a lock with the number of its owner", outcomes: ["2"], everyOrder: true) {
            scenario in
            let (shared, lock) = (Shared(), OwnerLock())
            scenario.threads("first", "second") {
                lock.lock()
                shared.value += 1
                lock.unlock()
            }
            scenario.outcome { "\(shared.value)" }
        },
        KnownProgram("an attempt to take such a lock", outcomes: ["1", "2"], everyOrder: true) {
            scenario in
            let (shared, lock) = (Shared(), OwnerLock())
            scenario.threads("first", "second") {
                guard lock.tryLock() else { return }
                shared.value += 1
                lock.unlock()
            }
            scenario.outcome { "\(shared.value)" }
        },
        KnownProgram("an attempt of a task that waits then", outcomes: ["1", "2"]) { scenario in
            let (shared, lock) = (Shared(), OwnerLock())
            for name in ["first", "second"] {
                scenario.task(name) {
                    guard lock.tryLock() else { return await Task.yield() }
                    shared.value += 1
                    lock.unlock()
                }
            }
            scenario.outcome { "\(shared.value)" }
        },
        KnownProgram("such a lock beside a `Mutex`", outcomes: ["2 2"], everyOrder: true) {
            scenario in
            let (shared, lock, mutex) = (Shared(), OwnerLock(), Box(Mutex(())))
            scenario.threads("first", "second") {
                mutex.value.withLock { _ in shared.value += 1 }
                lock.lock()
                shared.other += 1
                lock.unlock()
            }
            scenario.outcome { "\(shared.value) \(shared.other)" }
        },
    ]
}

@_silgen_name("gettid")
private func gettid() -> Int32
