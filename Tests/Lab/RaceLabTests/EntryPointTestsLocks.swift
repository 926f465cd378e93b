import Foundation
import RaceLab
import RaceLabTesting
import Testing

@Suite("The lab controls locks of Foundation", .needsTheLab)
struct LockEntryPointTests {
    @Test("has its known result", arguments: plain + timed + shared + deadlocks)
    func known(_ program: KnownProgram) { program.check() }

    private static let plain = [
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
    ]

    private static let timed = [
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
        }
    ]

    private static let shared = [
        KnownProgram(
            "a reader blocks a writer, and is named when both wait forever", .deadlock,
            reason: ["that 'reader' took at"]
        ) { scenario in
            let (lock, gate) = (ReadWriteLock(), NSLock())
            scenario.thread("reader") { lock.read { gate.withLock {} } }
            scenario.thread("writer") { gate.withLock { lock.write {} } }
        }
    ]

    private static let deadlocks = [
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

    @Test("a lock that outlives the scenario is free again after a deadlock")
    func survivingLock() {
        let (one, two) = (NSLock(), NSLock())
        for _ in 1...2 {
            let exploration = explore { scenario in
                scenario.thread("there") { one.withLock { two.withLock {} } }
                scenario.thread("back") { two.withLock { one.withLock {} } }
                scenario.check { one.withLock { two.withLock {} } }
            }
            #expect(exploration.inconclusive == nil, "\(exploration.summary)")
            #expect(exploration.reasons(.deadlock).count == 1)
        }
    }
}
