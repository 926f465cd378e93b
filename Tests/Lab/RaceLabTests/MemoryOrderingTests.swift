import CRaceLab
import Models
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// The happens-before edges that memory orderings create, as in C++20.
@Suite("Memory orderings", .needsTheLab)
struct MemoryOrderingTests {
    /// Two or three threads that pass a page on, and whether that is a data race.
    private func isRace(
        faults: UInt32 = 0, _ bodies: @escaping (OrderedAtomic, Counter) -> [() -> Void]
    ) -> Bool {
        var options = Exploration.Options()
        options.faults = faults
        let exploration = explore(options: options) { scenario in
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
            for name in ["A", "B"] {
                scenario.thread(name) {
                    if lazy.get(log).value != 1 { log.append("unfinished") }
                }
            }
            scenario.outcome { log.entries.joined(separator: " ") }
        }
        #expect(exploration.survives, "\(exploration.text())")
        #expect(Set(exploration.outcomes.keys) == ["made", "made made"])
    }

    @Test(
        "of a store and of a load", arguments: [MemoryOrdering].ofStores, [MemoryOrdering].ofLoads)
    func messagePassing(storing: MemoryOrdering, loading: MemoryOrdering) {
        let isRace = isRace { flag, page in
            [
                {
                    page.value = 1
                    flag.store(1, storing)
                },
                { if flag.load(loading) == 1 { _ = page.value } },
            ]
        }
        #expect(isRace == !(storing.releases && loading.acquires))
    }

    @Test("of an addition, however many addresses the lab has recorded already")
    func manyAddresses() {
        // Some of these additions make the lab enlarge its table of addresses.
        var options = Exploration.Options()
        options.isolation = .childProcess()
        let exploration = explore(options: options) { scenario in
            let counts = (0..<1_500).map { _ in OrderedAtomic() }
            scenario.thread("counter") {
                for count in counts { _ = count.add(1, .acquiringAndReleasing) }
            }
        }
        #expect(exploration.survives, "\(exploration.summary)")
    }

    @Test("a fault that ignores them is noticed")
    func notices() {
        let message = { (flag: OrderedAtomic, page: Counter) -> [() -> Void] in
            [
                {
                    page.value = 1
                    flag.store(1, .relaxed)
                },
                { if flag.load(.relaxed) == 1 { _ = page.value } },
            ]
        }
        #expect(isRace(message))
        #expect(!isRace(faults: UInt32(RL_FAULT_EVERY_ATOMIC_ORDERS), message))
    }

    @Test(
        "of fences around relaxed operations", arguments: MemoryOrdering.allCases,
        MemoryOrdering.allCases)
    func fences(before: MemoryOrdering, after: MemoryOrdering) {
        let isRace = isRace { flag, page in
            [
                {
                    page.value = 1
                    before.fence()
                    flag.store(1, .relaxed)
                },
                {
                    guard flag.load(.relaxed) == 1 else { return }
                    after.fence()
                    _ = page.value
                },
            ]
        }
        #expect(isRace == !(before.releases && after.acquires))
    }

    @Test("of a fence on one side only", arguments: MemoryOrdering.allCases)
    func fenceAndOperation(fence: MemoryOrdering) {
        let releasing = isRace { flag, page in
            [
                {
                    page.value = 1
                    fence.fence()
                    flag.store(1, .relaxed)
                },
                { if flag.load(.acquiring) == 1 { _ = page.value } },
            ]
        }
        #expect(releasing == !fence.releases)
        let acquiring = isRace { flag, page in
            [
                {
                    page.value = 1
                    flag.store(1, .releasing)
                },
                {
                    guard flag.load(.relaxed) == 1 else { return }
                    fence.fence()
                    _ = page.value
                },
            ]
        }
        #expect(acquiring == !fence.acquires)
    }

    @Test("a fence in the wrong place orders nothing")
    func misplacedFences() {
        #expect(
            isRace { flag, page in
                [
                    {
                        atomicMemoryFence(ordering: .sequentiallyConsistent)
                        page.value = 1
                        flag.store(1, .relaxed)
                    },
                    { if flag.load(.acquiring) == 1 { _ = page.value } },
                ]
            })
        #expect(
            isRace { flag, page in
                [
                    {
                        page.value = 1
                        flag.store(1, .relaxed)
                        atomicMemoryFence(ordering: .sequentiallyConsistent)
                    },
                    { if flag.load(.acquiring) == 1 { _ = page.value } },
                ]
            })
        #expect(
            isRace { flag, page in
                [
                    {
                        page.value = 1
                        flag.store(1, .releasing)
                    },
                    {
                        atomicMemoryFence(ordering: .sequentiallyConsistent)
                        if flag.load(.relaxed) == 1 { _ = page.value }
                    },
                ]
            })
        #expect(
            isRace { flag, page in
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
            })
    }

    @Test("a read-modify-write continues a release sequence", arguments: MemoryOrdering.allCases)
    func releaseSequence(adding: MemoryOrdering) {
        let isRace = isRace { flag, page in
            [
                {
                    page.value = 1
                    flag.store(1, .releasing)
                },
                { _ = flag.add(10, adding) },
                { if flag.load(.acquiring) == 11 { _ = page.value } },
            ]
        }
        #expect(!isRace)
    }

    @Test("a plain store ends a release sequence, also one of the same thread")
    func endOfReleaseSequence() {
        #expect(
            isRace { flag, page in
                [
                    {
                        page.value = 1
                        flag.store(1, .releasing)
                        flag.store(2, .relaxed)
                    },
                    { if flag.load(.acquiring) == 2 { _ = page.value } },
                ]
            })
        #expect(
            isRace { flag, page in
                [
                    {
                        page.value = 1
                        flag.store(1, .releasing)
                    },
                    { if flag.load(.relaxed) == 1 { flag.store(2, .releasing) } },
                    { if flag.load(.acquiring) == 2 { _ = page.value } },
                ]
            })
    }

    @Test("a store acquires nothing", arguments: [MemoryOrdering].ofStores)
    func storesAcquireNothing(storing: MemoryOrdering) {
        #expect(
            isRace { flag, page in
                [
                    {
                        page.value = 1
                        flag.store(1, .sequentiallyConsistent)
                    },
                    {
                        flag.store(2, storing)
                        _ = page.value
                    },
                ]
            })
    }

    @Test(
        "of a read-modify-write on both sides", arguments: [MemoryOrdering].all,
        [MemoryOrdering].all)
    func readModifyWrite(first: MemoryOrdering, second: MemoryOrdering) {
        // The last thread that counts down reads what the first wrote.
        let adding = isRace { count, page in
            [
                {
                    page.value = 1
                    _ = count.add(1, first)
                },
                { if count.add(1, second) == 1 { _ = page.value } },
            ]
        }
        #expect(adding == !(first.releases && second.acquires))
        let exchanging = isRace { flag, page in
            [
                {
                    page.value = 1
                    _ = flag.exchange(1, first)
                },
                { if flag.exchange(0, second) == 1 { _ = page.value } },
            ]
        }
        #expect(exchanging == !(first.releases && second.acquires))
        let claiming = isRace { flag, page in
            [
                {
                    page.value = 1
                    _ = flag.claim(first, .relaxed)
                },
                { if flag.compareExchange(1, 2, second, .relaxed) { _ = page.value } },
            ]
        }
        #expect(claiming == !(first.releases && second.acquires))
    }

    @Test(
        "a compare-and-exchange that fails has its failure ordering, and releases nothing",
        arguments: [MemoryOrdering].all, [MemoryOrdering].ofLoads)
    func failedExchange(succeeding: MemoryOrdering, failing: MemoryOrdering) {
        let acquires = isRace { flag, page in
            [
                {
                    page.value = 1
                    flag.store(1, .releasing)
                },
                { if !flag.compareExchange(0, 2, succeeding, failing) { _ = page.value } },
            ]
        }
        #expect(acquires == !failing.acquires)
        let releases = isRace { flag, page in
            [
                {
                    page.value = 1
                    _ = flag.compareExchange(7, 1, succeeding, failing)
                },
                {
                    _ = flag.load(.acquiring)
                    _ = page.value
                },
            ]
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
        #expect(
            !isRace { flag, page in
                let lock = Box(Mutex(()))
                let body = {
                    lock.value.withLock { _ in page.value += 1 }
                    flag.store(1, .relaxed)
                }
                return [body, body]
            })
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
