import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Atomic operations, and the happens-before edges that their orderings create. For those of litmus
/// programs there is a model.
@Suite("Memory orderings", .needsTheLab)
struct MemoryOrderingTests {
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
        KnownProgram("a reference that is stored once", outcomes: ["made", "made made"]) {
            scenario in
            let (lazy, log) = (Lazy(), Scenario.Log<String>())
            scenario.threads("A", "B") {
                if lazy.get(log).value != 1 { log.append("unfinished") }
            }
            scenario.outcome { log.entries.joined(separator: " ") }
        },
        // Some of these additions make the lab enlarge its table of addresses.
        KnownProgram("additions at many addresses", options: .isolated) { scenario in
            let counts = (0..<1_500).map { _ in Box(Atomic(0)) }
            scenario.thread("counter") {
                for count in counts {
                    count.value.wrappingAdd(1, ordering: .acquiringAndReleasing)
                }
            }
        },
        KnownProgram("a thread that only executes a fence counts as observed") { scenario in
            scenario.thread("only") { atomicMemoryFence(ordering: .acquiring) }
        },
        KnownProgram("a pair of words that is stored with release") {
            publish($0) { $0.store($1, ordering: .releasing) }
        },
        KnownProgram("a relaxed pair of words", .dataRace) {
            publish($0) { $0.store($1, ordering: .relaxed) }
        },
    ]

    private final class Lazy: @unchecked Sendable {
        private let reference = AtomicLazyReference<Counter>()

        func get(_ log: Scenario.Log<String>) -> Counter {
            if let counter = reference.load() { return counter }
            let counter = Counter()
            counter.value = 1
            log.append("made")
            return reference.storeIfNil(counter)
        }
    }

    private static func publish(
        _ scenario: Scenario, _ store: @escaping (borrowing Atomic<WordPair>, WordPair) -> Void
    ) {
        let pair = Box(Atomic(WordPair(first: 0, second: 0)))
        let page = Counter()
        scenario.thread("writer") {
            page.value = 1
            store(pair.value, WordPair(first: 1, second: 1))
        }
        scenario.thread("reader") {
            if pair.value.load(ordering: .acquiring).second == 1 { _ = page.value }
        }
        scenario.thread("adder") {
            let zero = WordPair(first: 0, second: 0)
            _ = pair.value.compareExchange(
                expected: zero, desired: zero, ordering: .acquiringAndReleasing)
        }
    }

    @Test("a report mentions weak orderings")
    func words() {
        let exploration = Classic.relaxedMessage.exploration()
        #expect(exploration.hasWeakOrderings)
        #expect(exploration.text().contains("also read the old values"), "\(exploration.text())")
        #expect(exploration.memory == .weak)
        #expect(exploration.summary.contains("the atomic operations between them are too weak"))
        let strict = Classic.atomicLostUpdate.exploration()
        #expect(!strict.hasWeakOrderings)
        #expect(!strict.text().contains("old values"), "\(strict.text())")
        let restricted = Classic.storeBuffering.exploration { $0.memory = .sequentiallyConsistent }
        #expect(restricted.text().contains("newest value only"), "\(restricted.text())")
        #expect(restricted.memory == .sequentiallyConsistent)
    }
}
