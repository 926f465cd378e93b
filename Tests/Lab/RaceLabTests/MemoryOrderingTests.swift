import Models
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// The happens-before edges that memory orderings create, as in C++20.
@Suite("Memory orderings", .needsTheLab)
struct MemoryOrderingTests {
    /// Whether threads that share a page have a data race.
    private func isRace(of bodies: @escaping (OrderedAtomic, Counter) -> [() -> Void]) -> Bool {
        let exploration = explore { scenario in
            let made = bodies(OrderedAtomic(), Counter())
            for (number, body) in made.enumerated() {
                scenario.thread("thread \(number)", body)
            }
        }
        #expect(
            exploration.inconclusive == nil && exploration.coverage == .all,
            "\(exploration.summary)")
        #expect(exploration.findings.allSatisfy { $0.kind == .dataRace }, "\(exploration.summary)")
        return !exploration.survives
    }

    /// One thread writes a page and publishes it with a flag. Another one reads the page if it
    /// receives the flag.
    private func isRace(
        publishing: @escaping (OrderedAtomic) -> Void, receiving: @escaping (OrderedAtomic) -> Bool
    ) -> Bool {
        isRace { flag, page in
            let writes = {
                page.value = 1
                publishing(flag)
            }
            return [writes, { if receiving(flag) { _ = page.value } }]
        }
    }

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

    @Test("of a reference that is stored once")
    func lazyReference() {
        let exploration = explore { scenario in
            let (lazy, log) = (Lazy(), Scenario.Log<String>())
            scenario.threads("A", "B") {
                if lazy.get(log).value != 1 { log.append("unfinished") }
            }
            scenario.outcome { log.entries.joined(separator: " ") }
        }
        #expect(exploration.survives, "\(exploration.text())")
        #expect(Set(exploration.outcomes.keys) == ["made", "made made"])
    }

    @Test(
        "of a store and of a load", arguments: [MemoryOrdering].ofStores, [MemoryOrdering].ofLoads)
    func messagePassing(storing: MemoryOrdering, loading: MemoryOrdering) {
        let isRace = isRace(
            publishing: { $0.store(1, storing) }, receiving: { $0.load(loading) == 1 })
        #expect(isRace == !(storing.releases && loading.acquires))
    }

    @Test("of an addition, however many addresses the lab has recorded already")
    func manyAddresses() {
        // Some of these additions make the lab enlarge its table of addresses.
        let exploration = explore(options: .isolated) { scenario in
            let counts = (0..<1_500).map { _ in OrderedAtomic() }
            scenario.thread("counter") {
                for count in counts { _ = count.add(1, .acquiringAndReleasing) }
            }
        }
        #expect(exploration.survives, "\(exploration.summary)")
    }

    @Test(
        "of fences around relaxed operations", arguments: MemoryOrdering.allCases,
        MemoryOrdering.allCases)
    func fences(before: MemoryOrdering, after: MemoryOrdering) {
        let isRace = isRace { flag in
            before.fence()
            flag.store(1, .relaxed)
        } receiving: { flag in
            guard flag.load(.relaxed) == 1 else { return false }
            after.fence()
            return true
        }
        #expect(isRace == !(before.releases && after.acquires))
    }

    @Test(
        "of a read-modify-write on both sides", arguments: [MemoryOrdering].all,
        [MemoryOrdering].all)
    func readModifyWrite(first: MemoryOrdering, second: MemoryOrdering) {
        // The last thread that counts down reads what the first wrote.
        let adding = isRace(
            publishing: { _ = $0.add(1, first) }, receiving: { $0.add(1, second) == 1 })
        #expect(adding == !(first.releases && second.acquires))
        let exchanging = isRace(
            publishing: { _ = $0.exchange(1, first) }, receiving: { $0.exchange(0, second) == 1 })
        #expect(exchanging == !(first.releases && second.acquires))
        let claiming = isRace(
            publishing: { _ = $0.compareExchange(0, 1, first, .relaxed) },
            receiving: { $0.compareExchange(1, 2, second, .relaxed) })
        #expect(claiming == !(first.releases && second.acquires))
    }

    @Test("a `Mutex`, a queue and the start of a thread still create happens-before edges")
    func locksOrder() {
        let isRace = isRace { flag, page in
            let lock = Box(Mutex(()))
            let body = {
                lock.value.withLock { _ in page.value += 1 }
                flag.store(1, .relaxed)
            }
            return [body, body]
        }
        #expect(!isRace)
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

    @Test("a thread that only executes a fence counts as observed")
    func onlyFences() {
        #expect(!isRace { _, _ in [{ atomicMemoryFence(ordering: .acquiring) }] })
    }

    @Test("atomic operations on two words", arguments: [true, false])
    func pairs(isOrdered: Bool) {
        let exploration = explore { scenario in
            let pair = TwoWords()
            let page = Counter()
            scenario.thread("writer") {
                page.value = 1
                if isOrdered {
                    pair.value.store(WordPair(first: 1, second: 1), ordering: .releasing)
                } else {
                    pair.value.store(WordPair(first: 1, second: 1), ordering: .relaxed)
                }
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
        #expect(exploration.survives == isOrdered, "\(exploration.text())")
    }
}

private final class TwoWords: Sendable {
    let value = Atomic(WordPair(first: 0, second: 0))
}
