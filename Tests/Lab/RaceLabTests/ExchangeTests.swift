import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Atomic read-modify-write operations, and threads that wait by repeating them.
@Suite("The lab controls read-modify-write operations", .needsTheLab)
struct ExchangeTests {
    private final class ForkSafeLock {
        var value = 0
    }

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

    private func increments(_ takes: @escaping (borrowing Atomic<Bool>) -> Bool) -> Exploration {
        explore { scenario in
            let (flag, guarded) = (Flag(takes), ForkSafeLock())
            for name in ["first", "second"] {
                scenario.thread(name) { flag.withLock { guarded.value += 1 } }
            }
            scenario.check { try Scenario.require(guarded.value == 2, "an increment was lost") }
        }
    }

    @Test("a lock made of an exchange: threads spin until it is free, and all interleavings end")
    func exchange() {
        let exploration = increments { !$0.exchange(true, ordering: .acquiring) }
        #expect(exploration.survives, "\(exploration.summary)")
        #expect(exploration.coverage == .all && exploration.explored > 1)
    }

    @Test("a lock made of a logical or")
    func logicalOr() {
        let exploration = increments { !$0.logicalOr(true, ordering: .acquiring).oldValue }
        #expect(exploration.survives, "\(exploration.summary)")
        #expect(exploration.coverage == .all && exploration.explored > 1)
    }

    @Test("a flag that is tested and set in two steps is no lock")
    func twoSteps() {
        let exploration = increments { flag in
            if flag.load(ordering: .acquiring) { return false }
            flag.store(true, ordering: .releasing)
            return true
        }
        #expect(exploration.findings.contains { $0.kind == .overlap }, "\(exploration.summary)")
    }

    @Test("a flag that is never cleared: a deadlock rather than an endless run")
    func neverDown() {
        let exploration = explore { scenario in
            let isUp = Atomic(true)
            let box = Box(isUp)
            scenario.thread("first") {
                while box.flag.exchange(true, ordering: .acquiring) {}
            }
        }
        #expect(exploration.findings.contains { $0.kind == .deadlock }, "\(exploration.summary)")
    }

    private final class Box {
        let flag: Atomic<Bool>
        init(_ flag: consuming Atomic<Bool>) { self.flag = flag }
    }

    @Test("an exchange that does not change the value still publishes")
    func publishes() {
        let exploration = explore { scenario in
            let (box, guarded) = (Box(Atomic(true)), ForkSafeLock())
            scenario.thread("writer") {
                guarded.value = 1
                _ = box.flag.exchange(true, ordering: .releasing)
            }
            scenario.thread("reader") {
                _ = box.flag.exchange(true, ordering: .acquiring)
                _ = guarded.value
            }
        }
        // The thread that exchanges second is ordered after all that the first did before.
        #expect(exploration.findings.contains { $0.kind == .dataRace })
        #expect(exploration.passingSchedule != nil, "\(exploration.summary)")
    }
}
