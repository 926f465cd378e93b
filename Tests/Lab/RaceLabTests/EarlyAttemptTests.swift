import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// A release belongs to the step before it. An attempt to take the lock can run between the two.
@Suite("Attempts right before a release", .needsTheLab)
struct EarlyAttemptTests {
    /// What a thread does while it holds a lock, and an attempt of another one, which releases the
    /// lock again.
    private typealias Use = (hold: (() -> Void) -> Void, attempt: () -> Bool)

    /// The holder of a lock sets a flag; another thread reads it, and then tries to take the lock.
    private static func seesAndTries(
        _ description: String, outcomes: Set<String> = all, _ make: @escaping @Sendable () -> Use
    ) -> KnownProgram {
        KnownProgram(description, outcomes: outcomes, everyOrder: true) { scenario in
            let (flag, use, seen) = (Box(Atomic(false)), make(), Seen())
            scenario.thread("holder") {
                use.hold { flag.value.store(true, ordering: .relaxed) }
            }
            scenario.thread("attempt") {
                seen.note(flag.value.load(ordering: .relaxed) ? "raised" : "down")
                seen.note(use.attempt() ? "taken" : "refused")
            }
            scenario.outcome { seen.text }
        }
    }

    private static func released(_ release: () -> Void) -> Bool {
        release()
        return true
    }

    private static let all: Set = [
        "down taken", "down refused", "raised taken", "raised refused",
    ]

    @Test(
        "an attempt can fail although the lock's holder has made its last step", arguments: kinds)
    func everyKind(_ program: KnownProgram) { program.check() }

    private static let kinds = [
        seesAndTries("an NSLock") {
            let lock = NSLock()
            return ({ body in lock.withLock(body) }, { lock.try() && released(lock.unlock) })
        },
        // Only the last release frees it.
        seesAndTries("a recursive lock") {
            let lock = NSRecursiveLock()
            return (
                { body in lock.withLock { lock.withLock(body) } },
                { lock.try() && released(lock.unlock) }
            )
        },
        seesAndTries("a `Mutex`") {
            let mutex = Box(Mutex(()))
            return (
                { body in mutex.value.withLock { _ in body() } },
                { mutex.value.withLockIfAvailable { _ in true } ?? false }
            )
        },
        seesAndTries("a writer's lock") {
            let lock = ReadWriteLock()
            return (lock.write, { lock.tryToWrite() && released(lock.unlock) })
        },
        seesAndTries("a reader's attempt at a writer's lock") {
            let lock = ReadWriteLock()
            return (lock.write, { lock.tryToRead() && released(lock.unlock) })
        },
        seesAndTries("a writer's attempt at a reader's lock") {
            let lock = ReadWriteLock()
            return (lock.read, { lock.tryToWrite() && released(lock.unlock) })
        },
        seesAndTries(
            "not a reader's attempt at a reader's lock", outcomes: ["down taken", "raised taken"]
        ) {
            let lock = ReadWriteLock()
            return (lock.read, { lock.tryToRead() && released(lock.unlock) })
        },
    ]

    @Test("has its known result", arguments: programs)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram(
            "an attempt after a join of the holder succeeds",
            outcomes: ["taken taken", "refused taken"]
        ) { scenario in
            let (shared, lock, seen) = (Shared(), NSLock(), Seen())
            scenario.thread("starter") {
                let holder = ThreadEntryPointTests.start { lock.withLock { shared.value = 1 } }
                seen.note(lock.try() ? "taken" : "refused")
                if seen.text == "taken" { lock.unlock() }
                pthread_join(holder, nil)
                seen.note(lock.try() ? "taken" : "refused")
            }
            scenario.outcome { seen.text }
        },
        KnownProgram(
            "an attempt after a later release of the holder succeeds", .deadlock,
            outcomes: ["before taken", "before refused", "after taken"]
        ) { scenario in
            let (shared, inner, outer, seen) = (Shared(), NSLock(), NSLock(), Seen())
            scenario.thread("holder") {
                outer.withLock { inner.withLock { shared.value = 1 } }
            }
            scenario.thread("attempt") {
                let isDone = outer.withLock { shared.value == 1 }
                seen.note((isDone ? "after " : "before ") + (inner.try() ? "taken" : "refused"))
            }
            scenario.outcome { seen.text }
        },
        readerAndWriter("of the thread that writes later", reads: "writer"),
        readerAndWriter("of a third thread", reads: "reader"),
        KnownProgram(
            "after an attempt that has failed, the holder may still read an old value",
            outcomes: ["0 taken", "0 refused", "1 taken", "1 refused"], everyOrder: true
        ) { scenario in
            let (flag, lock, seen) = (Box(Atomic(0)), NSLock(), Seen())
            var value = 0
            scenario.thread("holder") {
                lock.withLock {}
                value = flag.value.load(ordering: .relaxed)
            }
            scenario.thread("attempt") {
                flag.value.store(1, ordering: .releasing)
                let isTaken = lock.try()
                if isTaken { lock.unlock() }
                seen.note(isTaken ? "taken" : "refused")
            }
            scenario.outcome { "\(value) \(seen.text)" }
        },
        KnownProgram(
            "a thread that reads within its own reading does so before, or after, a writer",
            outcomes: ["0", "7"], everyOrder: true
        ) { scenario in
            let (lock, shared) = (ReadWriteLock(), Shared())
            var value = 0
            scenario.thread("reader") { lock.read { lock.read { value = shared.value } } }
            scenario.thread("writer") { lock.write { shared.value = 7 } }
            scenario.outcome { "\(value)" }
        },
        KnownProgram("a loop of attempts ends", everyOrder: true) { scenario in
            let (shared, lock, flag) = (Shared(), NSLock(), Box(Atomic(false)))
            scenario.thread("holder") {
                lock.withLock {
                    shared.value += 1
                    flag.value.store(true, ordering: .relaxed)
                }
            }
            scenario.thread("attempt") {
                while true {
                    if lock.try() { break }
                    _ = flag.value.load(ordering: .relaxed)
                }
                shared.value += 1
                lock.unlock()
            }
            scenario.check { try Scenario.require(shared.value == 2, "an increment was lost") }
        },
    ]

    /// While a thread reads, an attempt to read changes nothing for a writer that waits for it.
    private static func readerAndWriter(_ description: String, reads reader: String) -> KnownProgram
    {
        KnownProgram(
            "an attempt to read comes before, or after, the reading \(description)",
            outcomes: ["0 taken", "0 refused", "7 taken", "7 refused"], everyOrder: true
        ) { scenario in
            let (lock, shared, guardian, seen) = (ReadWriteLock(), Shared(), NSLock(), Seen())
            if reader == "reader" { scenario.thread("reader") { lock.read {} } }
            scenario.thread("writer") {
                let change: @Sendable () -> Void = { guardian.withLock { shared.value = 7 } }
                if reader == "writer" { lock.read(change) } else { change() }
                lock.write {}
            }
            scenario.thread("attempt") {
                let value = guardian.withLock { shared.value }
                let isTaken = lock.tryToRead()
                if isTaken { lock.unlock() }
                seen.note("\(value) \(isTaken ? "taken" : "refused")")
            }
            scenario.outcome { seen.text }
        }
    }

    // MARK: Schedules

    /// A class that assumes that the lock is free once the flag is set.
    static func assumes(_ scenario: Scenario) {
        let (shared, lock) = (Shared(), NSLock())
        scenario.thread("holder") {
            lock.lock()
            shared.value = 1
            lock.unlock()
        }
        scenario.thread("attempt") {
            guard shared.value == 1 else { return }
            if lock.try() { lock.unlock() } else { shared.other = 1 }
        }
        scenario.check { try Scenario.require(shared.other == 0, "the lock is still taken") }
    }

    static let options = Exploration.Options.with { $0.failingKinds = [.failedCheck] }

    @Test("the minus in a schedule marks the early attempt, and a replay reproduces it")
    func schedule() throws {
        let exploration = explore(options: Self.options, Self.assumes)
        let finding = try #require(exploration.findings.first { $0.kind == .failedCheck })
        #expect(finding.schedule.text(threads: exploration.threads) == "HHAA-A")
        #expect(finding.schedule.marks == [3: .early])
        let trace = try Exploration.replay("hhaa-a", Self.assumes)
        #expect(trace.scheduleText == "HHAA-A")
        #expect(trace.findings.contains { $0.kind == .failedCheck })
        #expect(trace.steps[3].failed && trace.steps[3].before == 0)
        let completed = try Exploration.replay(prefix: "HHAA-", Self.assumes)
        #expect(completed.trace.scheduleText == "HHAA-A" && completed.mismatch == nil)
        let released = try Exploration.replay("HHAA", Self.assumes)
        #expect(
            !released.findings.contains { $0.kind == .failedCheck }
                && released.steps[3].before == nil)
    }

    @Test(
        "a minus at a step where no release can come later is refused with the step",
        arguments: [("HHA-A", 3), ("H-HAA", 1), ("HHAA-AA", 6)])
    func mismatch(schedule: String, step: Int) {
        let mismatch = refusal { try Exploration.replay(schedule, Self.assumes) }?.mismatch
        #expect(mismatch?.step == step)
        let isAboutMinus = mismatch?.description.contains("leave out the minus") == true
        #expect(isAboutMinus == (step < 6), "\(mismatch?.description ?? "")")
    }

    @Test("in the table the holder's bar ends after the failing attempt")
    func table() throws {
        let trace = try Exploration.replay("HHAA-A", Self.assumes)
        let rows = trace.table().split(separator: "\n").map(String.init)
        func bar(_ step: Int) -> Character? {
            rows.first { $0.hasPrefix(" \(step) ") }?.dropFirst(4).first
        }
        #expect([1, 2, 3, 4, 5].map(bar) == ["┌", "│", "│", "└", " "], "\(trace.table())")
        #expect(
            rows.contains {
                $0.hasPrefix(" 4 ") && $0.hasSuffix(":\(trace.steps[3].site!.line) fails")
            })
    }

    @Test("a schedule survives the conversion to text and back")
    func texts() throws {
        for text in ["A-", "AB-A", "B-5A", "AB-BB-", "A5A-"] {
            let schedule = try Exploration.Schedule(text, threads: ["a", "b"])
            #expect(schedule.text(threads: ["a", "b"]) == text)
        }
        let twice = try Exploration.Schedule("B-2", threads: ["a", "b"])
        #expect(twice.marks == [0: .early, 1: .early])
    }
}

// MARK: - Locks

/// The results of an attempt, stored where the lab does not see them.
final class Seen: @unchecked Sendable {
    private let texts = UnsafeMutablePointer<[String]>.allocate(capacity: 1)

    init() { texts.initialize(to: []) }

    deinit {
        texts.deinitialize(count: 1)
        texts.deallocate()
    }

    func note(_ text: String) { texts.pointee.append(text) }
    var text: String { texts.pointee.joined(separator: " ") }
}

final class ReadWriteLock: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

    init() { pthread_rwlock_init(lock, nil) }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    func read(_ body: () -> Void) {
        lockToRead()
        body()
        unlock()
    }

    func write(_ body: () -> Void) {
        lockToWrite()
        body()
        unlock()
    }

    func lockToRead() { pthread_rwlock_rdlock(lock) }
    func lockToWrite() { pthread_rwlock_wrlock(lock) }
    func tryToRead() -> Bool { pthread_rwlock_tryrdlock(lock) == 0 }
    func tryToWrite() -> Bool { pthread_rwlock_trywrlock(lock) == 0 }
    static let unlocks = place(1)
    func unlock() { pthread_rwlock_unlock(lock) }
}
