import CRaceLab
import Models
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// The happens-before edges that memory orderings create, as in C++20.
@Suite("Memory orderings", .needsTheLab)
struct MemoryOrderingTests {
    /// Whether threads that share a page have a data race.
    private func isRace(
        faults: UInt32 = 0, of bodies: @escaping (OrderedAtomic, Counter) -> [() -> Void]
    ) -> Bool {
        let exploration = explore(options: .with { $0.faults = faults }) { scenario in
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
    /// receives the flag. A third one may come between them.
    private func isRace(
        faults: UInt32 = 0, publishing: @escaping (OrderedAtomic) -> Void,
        between: ((OrderedAtomic) -> Void)? = nil, receiving: @escaping (OrderedAtomic) -> Bool
    ) -> Bool {
        isRace(faults: faults) { flag, page in
            let writes = {
                page.value = 1
                publishing(flag)
            }
            let reads = { if receiving(flag) { _ = page.value } }
            return [writes] + (between.map { between in [{ between(flag) }] } ?? []) + [reads]
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
        "a fault that ignores them is noticed",
        arguments: [(faults: 0, isRace: true), (RL_FAULT_EVERY_ATOMIC_ORDERS, false)])
    func notices(faults: Int, isRace: Bool) {
        let found = self.isRace(
            faults: UInt32(faults), publishing: { $0.store(1, .relaxed) },
            receiving: { $0.load(.relaxed) == 1 })
        #expect(found == isRace)
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

    @Test("of a fence on one side only", arguments: MemoryOrdering.allCases)
    func fenceAndOperation(fence: MemoryOrdering) {
        let releasing = isRace { flag in
            fence.fence()
            flag.store(1, .relaxed)
        } receiving: { flag in
            flag.load(.acquiring) == 1
        }
        #expect(releasing == !fence.releases)
        let acquiring = isRace { flag in
            flag.store(1, .releasing)
        } receiving: { flag in
            guard flag.load(.relaxed) == 1 else { return false }
            fence.fence()
            return true
        }
        #expect(acquiring == !fence.acquires)
    }

    @Test("a fence in the wrong place orders nothing")
    func misplacedFences() {
        let beforeThePage = isRace { flag, page in
            [
                {
                    atomicMemoryFence(ordering: .sequentiallyConsistent)
                    page.value = 1
                    flag.store(1, .relaxed)
                },
                { if flag.load(.acquiring) == 1 { _ = page.value } },
            ]
        }
        #expect(beforeThePage)
        let afterTheFlag = isRace { flag in
            flag.store(1, .relaxed)
            atomicMemoryFence(ordering: .sequentiallyConsistent)
        } receiving: { flag in
            flag.load(.acquiring) == 1
        }
        #expect(afterTheFlag)
        let beforeTheFlag = isRace { flag in
            flag.store(1, .releasing)
        } receiving: { flag in
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            return flag.load(.relaxed) == 1
        }
        #expect(beforeTheFlag)
        let afterThePage = isRace { flag, page in
            [
                {
                    page.value = 1
                    flag.store(1, .releasing)
                },
                {
                    guard flag.load(.relaxed) == 1 else { return }
                    _ = page.value
                    atomicMemoryFence(ordering: .sequentiallyConsistent)
                },
            ]
        }
        #expect(afterThePage)
    }

    @Test("a read-modify-write continues a release sequence", arguments: MemoryOrdering.allCases)
    func releaseSequence(adding: MemoryOrdering) {
        let isRace = isRace(
            publishing: { $0.store(1, .releasing) }, between: { _ = $0.add(10, adding) },
            receiving: { $0.load(.acquiring) == 11 })
        #expect(!isRace)
    }

    @Test("a plain store ends a release sequence, also one of the same thread")
    func endOfReleaseSequence() {
        let ofTheSameThread = isRace { flag in
            flag.store(1, .releasing)
            flag.store(2, .relaxed)
        } receiving: { flag in
            flag.load(.acquiring) == 2
        }
        #expect(ofTheSameThread)
        let ofAnotherThread = isRace(
            publishing: { $0.store(1, .releasing) },
            between: { if $0.load(.relaxed) == 1 { $0.store(2, .releasing) } },
            receiving: { $0.load(.acquiring) == 2 })
        #expect(ofAnotherThread)
    }

    @Test("a store acquires nothing", arguments: [MemoryOrdering].ofStores)
    func storesAcquireNothing(storing: MemoryOrdering) {
        let isRace = isRace { flag in
            flag.store(1, .sequentiallyConsistent)
        } receiving: { flag in
            flag.store(2, storing)
            return true
        }
        #expect(isRace)
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
            publishing: { _ = $0.claim(first, .relaxed) },
            receiving: { $0.compareExchange(1, 2, second, .relaxed) })
        #expect(claiming == !(first.releases && second.acquires))
    }

    @Test(
        "a compare-and-exchange that fails has its failure ordering, and releases nothing",
        arguments: [MemoryOrdering].all, [MemoryOrdering].ofLoads)
    func failedExchange(succeeding: MemoryOrdering, failing: MemoryOrdering) {
        let acquires = isRace(
            publishing: { $0.store(1, .releasing) },
            receiving: { !$0.compareExchange(0, 2, succeeding, failing) })
        #expect(acquires == !failing.acquires)
        let releases = isRace { flag in
            _ = flag.compareExchange(7, 1, succeeding, failing)
        } receiving: { flag in
            _ = flag.load(.acquiring)
            return true
        }
        #expect(releases)
    }

    @Test(
        "a spinlock needs acquire to lock and release to unlock",
        arguments: [MemoryOrdering].all, [MemoryOrdering].ofStores)
    func spinlock(taking: MemoryOrdering, leaving: MemoryOrdering) {
        let isRace = isRace { lock, page in
            let body = {
                while !lock.claim(taking, .relaxed) {}
                page.value += 1
                lock.store(0, leaving)
            }
            return [body, body]
        }
        #expect(isRace == !(taking.acquires && leaving.releases))
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
