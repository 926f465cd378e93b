import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Atomics that read and write at once, and threads that wait by doing so again and again.
@Suite("The lab hears exchanges", .needsTheLab)
struct ExchangeTests {
    private final class ForkSafeLock {
        var value = 0
    }

    /// A lock that is taken by whoever finds the flag down.
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

    @Test("a lock made of an exchange: whoever spins waits, and all interleavings come to an end")
    func exchange() {
        let report = increments { !$0.exchange(true, ordering: .acquiring) }
        #expect(report.survives, "\(report.summary)")
        #expect(report.coverage == .all && report.explored > 1)
    }

    @Test("a lock made of a logical or")
    func logicalOr() {
        let report = increments { !$0.logicalOr(true, ordering: .acquiring).oldValue }
        #expect(report.survives, "\(report.summary)")
        #expect(report.coverage == .all && report.explored > 1)
    }

    @Test("a flag that is looked at and put up in two steps is no lock")
    func twoSteps() {
        let report = increments { flag in
            if flag.load(ordering: .acquiring) { return false }
            flag.store(true, ordering: .releasing)
            return true
        }
        #expect(report.findings.contains { $0.kind == .overlap }, "\(report.summary)")
    }

    @Test("a flag that nobody puts down: a deadlock, and no endless run")
    func neverDown() {
        let report = explore { scenario in
            let isUp = Atomic(true)
            let box = Box(isUp)
            scenario.thread("first") {
                while box.flag.exchange(true, ordering: .acquiring) {}
            }
        }
        #expect(report.findings.contains { $0.kind == .deadlock }, "\(report.summary)")
    }

    private final class Box {
        let flag: Atomic<Bool>
        init(_ flag: consuming Atomic<Bool>) { self.flag = flag }
    }

    @Test("writing what was there already publishes all the same")
    func publishes() {
        let report = explore { scenario in
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
        // Whoever exchanges second is ordered after whatever the first one did before.
        #expect(report.findings.contains { $0.kind == .dataRace })
        #expect(report.passingSchedule != nil, "\(report.summary)")
    }
}
