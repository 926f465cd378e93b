import RaceLab
import Synchronization

final class Counter {
    var value = 0

    func incrementInTwoSteps() {
        let seen = value
        value = seen + 1
    }

    func increment() {
        value += 1
    }
}

final class AtomicCounter: Sendable {
    let value = Atomic(0)

    func incrementInTwoSteps() {
        let seen = value.load(ordering: .sequentiallyConsistent)
        value.store(seen + 1, ordering: .sequentiallyConsistent)
    }

    func increment() {
        value.wrappingAdd(1, ordering: .relaxed)
    }
}

final class LockedCounter: Sendable {
    let value = Mutex(0)

    func increment() {
        value.withLock { $0 += 1 }
    }
}

extension Classic {
    static let counters = [lostUpdate, overlap, atomicLostUpdate, atomicUpdate, lockedUpdate]

    static let lostUpdate = Classic("lost update", .fails(.failedCheck)) { scenario in
        let counter = Counter()
        scenario.thread("first") { counter.incrementInTwoSteps() }
        scenario.thread("second") { counter.incrementInTwoSteps() }
        scenario.state("value") { "\(counter.value)" }
        scenario.check { try Scenario.require(counter.value == 2, "an increment was lost") }
    }

    static let overlap = Classic("overlapping increments", .fails(.overlap)) { scenario in
        let counter = Counter()
        scenario.thread("first") { counter.increment() }
        scenario.thread("second") { counter.increment() }
        scenario.state("value") { "\(counter.value)" }
        scenario.check { try Scenario.require(counter.value == 2, "an increment was lost") }
    }

    static let atomicLostUpdate = Classic(
        "lost update of an atomic", .fails(.forbiddenOutcome)
    ) { scenario in
        let counter = AtomicCounter()
        scenario.thread("first") { counter.incrementInTwoSteps() }
        scenario.thread("second") { counter.incrementInTwoSteps() }
        scenario.state("value") { "\(counter.value.load(ordering: .relaxed))" }
        scenario.outcome { "\(counter.value.load(ordering: .relaxed))" }
        scenario.expect("2", .acceptable, "each increment counts")
        scenario.expect("1", .forbidden, "both read 0, and both wrote 1")
    }

    static let atomicUpdate = Classic("atomic increments", .survives) { scenario in
        let counter = AtomicCounter()
        scenario.thread("first") { counter.increment() }
        scenario.thread("second") { counter.increment() }
        scenario.outcome { "\(counter.value.load(ordering: .relaxed))" }
        scenario.expect("2", .acceptable, "each increment counts")
    }

    static let lockedUpdate = Classic("locked increments", .survives) { scenario in
        let counter = LockedCounter()
        scenario.thread("first") { counter.increment() }
        scenario.thread("second") { counter.increment() }
        scenario.outcome { "\(counter.value.withLock { $0 })" }
        scenario.expect("2", .acceptable, "each increment counts")
    }
}
