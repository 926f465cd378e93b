import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Atomic read-modify-write operations, and threads that wait by repeating them.
@Suite("The lab controls read-modify-write operations", .needsTheLab)
struct ExchangeTests {
    /// A lock that a thread takes by setting a flag that was clear.
    private final class Flag {
        private let isUp = Atomic(false)
        private let takes: (borrowing Atomic<Bool>) -> Bool

        init(_ takes: @escaping (borrowing Atomic<Bool>) -> Bool) {
            self.takes = takes
        }

        func withLock(_ work: () -> Void) {
            while !takes(isUp) {}
            work()
            isUp.store(false, ordering: .releasing)
        }
    }

    private static func increment(
        _ scenario: Scenario, _ takes: @escaping @Sendable (borrowing Atomic<Bool>) -> Bool
    ) {
        let (flag, guarded) = (Flag(takes), Counter())
        scenario.threads("first", "second") { flag.withLock { guarded.value += 1 } }
        scenario.check { try Scenario.require(guarded.value == 2, "an increment was lost") }
    }

    @Test("has its known result", arguments: programs)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram(
            "a lock made of an exchange: threads spin until it is free, and all interleavings end",
            explored: 2...(.max)
        ) { increment($0) { !$0.exchange(true, ordering: .acquiring) } },
        KnownProgram("a lock made of a logical or", explored: 2...(.max)) {
            increment($0) { !$0.logicalOr(true, ordering: .acquiring).oldValue }
        },
        KnownProgram(
            "a flag that is tested and set in two steps is no lock", .overlap, .dataRace
        ) {
            increment($0) { flag in
                if flag.load(ordering: .acquiring) { return false }
                flag.store(true, ordering: .releasing)
                return true
            }
        },
        KnownProgram(
            "a flag that is never cleared: a deadlock rather than an endless run", .deadlock
        ) { scenario in
            let flag = Box(Atomic(true))
            scenario.thread("first") {
                while flag.value.exchange(true, ordering: .acquiring) {}
            }
        },
        // The thread that exchanges second is ordered after all that the first did before.
        KnownProgram(
            "an exchange that does not change the value still publishes", .dataRace,
            alwaysFails: false
        ) { scenario in
            let (flag, guarded) = (Box(Atomic(true)), Counter())
            scenario.thread("writer") {
                guarded.value = 1
                _ = flag.value.exchange(true, ordering: .releasing)
            }
            scenario.thread("reader") {
                _ = flag.value.exchange(true, ordering: .acquiring)
                _ = guarded.value
            }
        },
    ]
}
