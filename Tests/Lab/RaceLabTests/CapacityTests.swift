import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Each table of the lab once had a fixed size. An entry that did not fit was dropped silently, and
/// the verdict was wrong.
@Suite("Capacities", .needsTheLab)
struct CapacityTests {
    @Test("has its known result", arguments: programs + [recursion])
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [(16, 32, 64), (17, 33, 65), (40, 80, 130)].flatMap {
        (count, places, queues) -> [KnownProgram] in
        [
            KnownProgram("a thread holds \(count) locks") { scenario in
                let locks = (0..<count).map { _ in Box(Mutex(())) }
                scenario.thread("nested") {
                    for lock in locks { lock.value._unsafeLock() }
                    for lock in locks.reversed() { lock.value._unsafeUnlock() }
                }
                scenario.thread("last") { locks[count - 1].value.withLock { _ in } }
            },
            KnownProgram(
                "a thread releases \(count) locks after one step",
                outcomes: ["down taken", "down refused", "raised taken", "raised refused"]
            ) { scenario in
                let locks = (0..<count).map { _ in Box(Mutex(())) }
                let (flag, seen) = (Box(Atomic(false)), Seen())
                scenario.thread("holder") {
                    for lock in locks { lock.value._unsafeLock() }
                    flag.value.store(true, ordering: .relaxed)
                    for lock in locks.reversed() { lock.value._unsafeUnlock() }
                }
                scenario.thread("attempt") {
                    seen.note(flag.value.load(ordering: .relaxed) ? "raised" : "down")
                    let taken: Void? = locks[0].value.withLockIfAvailable { _ in }
                    seen.note(taken == nil ? "refused" : "taken")
                }
                scenario.outcome { seen.text }
            },
            KnownProgram("a thread spins at \(places) places") { scenario in
                let words = (0..<places).map { _ in Box(Atomic(0)) }
                scenario.thread("waits") {
                    var isOver = false
                    while !isOver {
                        for word in words where word.value.load(ordering: .acquiring) == 1 {
                            isOver = true
                        }
                    }
                }
                scenario.thread("writes") { words.last!.value.store(1, ordering: .releasing) }
            },
            KnownProgram("work is sent to \(queues) queues during set-up", outcomes: ["1"]) {
                scenario in
                let counters = (0..<queues).map { _ in Counter() }
                let here = pthread_self()
                for counter in counters {
                    let queue = DispatchQueue(label: "set-up")
                    nonisolated(unsafe) let counter = counter
                    // A thread of Dispatch would run work that the lab has lost.
                    queue.async { counter.value = pthread_equal(pthread_self(), here) != 0 ? 1 : 2 }
                }
                scenario.thread("sums") {
                    if counters.contains(where: { $0.value != 1 }) { counters[0].value = 100 }
                }
                scenario.outcome { "\(counters[0].value)" }
            },
        ]
    }

    private static let recursion = KnownProgram(
        "a recursive lock is taken more than 65,536 times"
    ) { scenario in
        let (lock, counter) = (NSRecursiveLock(), Counter())
        scenario.threads("first", "second") {
            for _ in 0...65_536 { lock.lock() }
            for _ in 0..<65_536 { lock.unlock() }
            counter.value += 1
            lock.unlock()
        }
    }

    @Test("more than sixteen pairs of lines race in one interleaving")
    func races() {
        let pairs = Self.writes.flatMap { write in Self.reads.map { (write: write, read: $0) } }
        let exploration = explore(options: .with { $0.maximumInterleavings = 1 }) { scenario in
            let counters = pairs.map { _ in Counter() }
            scenario.thread("writes") {
                for (pair, counter) in zip(pairs, counters) { pair.write(counter) }
            }
            scenario.thread("reads") {
                for (pair, counter) in zip(pairs, counters) { pair.read(counter) }
            }
        }
        #expect(exploration.findings.map(\.kind) == pairs.map { _ in .dataRace })
    }

    private static let writes: [@Sendable (Counter) -> Void] = [
        { $0.value = 1 },
        { $0.value = 2 },
        { $0.value = 3 },
        { $0.value = 4 },
        { $0.value = 5 },
    ]
    private static let reads: [@Sendable (Counter) -> Void] = [
        { _ = $0.value },
        { keep($0.value) },
        { keep($0.value, 1) },
        { keep($0.value, 2) },
    ]

    @Test("32 threads fit, and each has a letter")
    func threads() throws {
        let describe: (Scenario) -> Void = { scenario in
            let lock = Box(Mutex(0))
            for number in 1...31 {
                scenario.thread("thread \(number)") { lock.value.withLock { $0 += 1 } }
            }
            scenario.thread("last") { lock.value.withLock { $0 += 1 } }
            scenario.outcome { "\(lock.value.withLock { $0 })" }
        }
        let exploration = explore(options: .with { $0.maximumInterleavings = 40 }, describe)
        #expect(
            exploration.inconclusive == nil && exploration.outcomes == ["32": 40],
            "\(exploration.summary)")
        let letters = Exploration.Schedule.letters(for: exploration.threads)
        #expect(Set(letters).count == 32)
        let text = String(letters.reversed())
        #expect(try Exploration.replay(text, describe).scheduleText == text)
        #expect(try Exploration.replay(text.lowercased(), describe).scheduleText == text)
    }

    @Test("a thread waits for 31 others")
    func manyReaders() {
        let exploration = explore(options: .with { $0.maximumInterleavings = 40 }) { scenario in
            let (lock, counter) = (ReadWriteLock(), Counter())
            for number in 1...31 {
                scenario.thread("reader \(number)") { lock.read { _ = counter.value } }
            }
            scenario.thread("writer") { lock.write { counter.value = 1 } }
        }
        #expect(
            exploration.inconclusive == nil && exploration.failing == 0, "\(exploration.summary)")
    }
}
