import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Atomic read-modify-write operations, and threads that wait by repeating them.
@Suite("The lab controls read-modify-write operations", .needsTheLab)
struct ExchangeTests {
    @Test("has its known result", arguments: programs)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram("a lock made of a logical or", explored: 2...(.max)) {
            scenario in
            let (isTaken, guarded) = (Box(Atomic(false)), Counter())
            scenario.threads("first", "second") {
                while isTaken.value.logicalOr(true, ordering: .acquiring).oldValue {}
                guarded.value += 1
                isTaken.value.store(false, ordering: .releasing)
            }
            scenario.check { try Scenario.require(guarded.value == 2, "an increment was lost") }
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
