import RaceLab
import Synchronization

/// A lock for two threads, 0 and 1.
protocol LockForTwo: AnyObject {
    func enter(_ me: Int)
    func leave(_ me: Int)
}

extension Classic {
    /// Both threads increment a counter in two steps. If the lock works, no increment is lost.
    static func incrementing(_ scenario: Scenario, under lock: some LockForTwo) {
        let counter = Counter()
        for (me, name) in ["first", "second"].enumerated() {
            scenario.thread(name) {
                lock.enter(me)
                counter.incrementInTwoSteps()
                lock.leave(me)
            }
        }
        scenario.state("value") { "\(counter.value)" }
        scenario.check { try Scenario.require(counter.value == 2, "an increment was lost") }
    }
}

final class Flag: Sendable {
    let isUp = Atomic(false)
}

// MARK: - Peterson's lock

class Peterson: LockForTwo {
    let flags = [Flag(), Flag()]
    let turn = Atomic(0)

    func enter(_ me: Int) {
        let other = 1 - me
        flags[me].isUp.store(true, ordering: .sequentiallyConsistent)
        turn.store(other, ordering: .sequentiallyConsistent)
        while flags[other].isUp.load(ordering: .sequentiallyConsistent),
            turn.load(ordering: .sequentiallyConsistent) == other
        {}
    }

    final func leave(_ me: Int) {
        flags[me].isUp.store(false, ordering: .sequentiallyConsistent)
    }
}

final class PetersonWithoutFlag: Peterson {
    override func enter(_ me: Int) {
        let other = 1 - me
        turn.store(other, ordering: .sequentiallyConsistent)
        while flags[other].isUp.load(ordering: .sequentiallyConsistent),
            turn.load(ordering: .sequentiallyConsistent) == other
        {}
    }
}

final class PetersonWithoutTurn: Peterson {
    override func enter(_ me: Int) {
        let other = 1 - me
        flags[me].isUp.store(true, ordering: .sequentiallyConsistent)
        while flags[other].isUp.load(ordering: .sequentiallyConsistent) {}
    }
}

/// Acquire and release do not order a store before a later load.
final class WeakPeterson: LockForTwo {
    let flags = [Flag(), Flag()]
    let turn = Atomic(0)

    func enter(_ me: Int) {
        let other = 1 - me
        flags[me].isUp.store(true, ordering: .releasing)
        turn.store(other, ordering: .releasing)
        while flags[other].isUp.load(ordering: .acquiring),
            turn.load(ordering: .acquiring) == other
        {}
    }

    func leave(_ me: Int) { flags[me].isUp.store(false, ordering: .releasing) }
}

extension Classic {
    static let petersons = [
        Classic("Peterson", .survives) { incrementing($0, under: Peterson()) },
        Classic("Peterson without the flag", .fails(.failedCheck)) {
            incrementing($0, under: PetersonWithoutFlag())
        },
        petersonWithoutTurn,
        Classic("Peterson, release and acquire", .fails(.failedCheck)) {
            incrementing($0, under: WeakPeterson())
        },
    ]

    static let petersonWithoutTurn = Classic(
        "Peterson without the turn", .fails(.deadlock)
    ) { scenario in
        incrementing(scenario, under: PetersonWithoutTurn())
    }
}

// MARK: - Dekker's lock

class Dekker: LockForTwo {
    let flags = [Flag(), Flag()]
    let turn = Atomic(0)

    func enter(_ me: Int) {
        let other = 1 - me
        flags[me].isUp.store(true, ordering: .sequentiallyConsistent)
        while flags[other].isUp.load(ordering: .sequentiallyConsistent) {
            if turn.load(ordering: .sequentiallyConsistent) == me { continue }
            flags[me].isUp.store(false, ordering: .sequentiallyConsistent)
            while turn.load(ordering: .sequentiallyConsistent) != me {}
            flags[me].isUp.store(true, ordering: .sequentiallyConsistent)
        }
    }

    func leave(_ me: Int) {
        turn.store(1 - me, ordering: .sequentiallyConsistent)
        flags[me].isUp.store(false, ordering: .sequentiallyConsistent)
    }
}

final class DekkerWithoutFlag: Dekker {
    override func enter(_ me: Int) {
        let other = 1 - me
        while flags[other].isUp.load(ordering: .sequentiallyConsistent) {
            if turn.load(ordering: .sequentiallyConsistent) == me { continue }
            flags[me].isUp.store(false, ordering: .sequentiallyConsistent)
            while turn.load(ordering: .sequentiallyConsistent) != me {}
            flags[me].isUp.store(true, ordering: .sequentiallyConsistent)
        }
    }
}

final class DekkerWithoutTurn: Dekker {
    override func leave(_ me: Int) {
        flags[me].isUp.store(false, ordering: .sequentiallyConsistent)
    }
}

final class WeakDekker: LockForTwo {
    let flags = [Flag(), Flag()]
    let turn = Atomic(0)

    func enter(_ me: Int) {
        let other = 1 - me
        flags[me].isUp.store(true, ordering: .releasing)
        while flags[other].isUp.load(ordering: .acquiring) {
            if turn.load(ordering: .acquiring) == me { continue }
            flags[me].isUp.store(false, ordering: .releasing)
            while turn.load(ordering: .acquiring) != me {}
            flags[me].isUp.store(true, ordering: .releasing)
        }
    }

    func leave(_ me: Int) {
        turn.store(1 - me, ordering: .releasing)
        flags[me].isUp.store(false, ordering: .releasing)
    }
}

extension Classic {
    static let dekkers = [
        Classic("Dekker", .survives) { incrementing($0, under: Dekker()) },
        Classic("Dekker without the flag", .fails(.failedCheck)) {
            incrementing($0, under: DekkerWithoutFlag())
        },
        Classic("Dekker without the turn", .fails(.deadlock)) {
            incrementing($0, under: DekkerWithoutTurn())
        },
        Classic("Dekker, release and acquire", .fails(.failedCheck)) {
            incrementing($0, under: WeakDekker())
        },
    ]
}

// MARK: - Ticket lock

class TicketLock: LockForTwo {
    let nextTicket = Atomic(0)
    let nowServing = Atomic(0)

    func enter(_ me: Int) {
        let ticket = nextTicket.wrappingAdd(1, ordering: .relaxed).oldValue
        while nowServing.load(ordering: .acquiring) != ticket {}
    }

    final func leave(_ me: Int) {
        nowServing.wrappingAdd(1, ordering: .releasing)
    }
}

final class TicketLockInTwoSteps: TicketLock {
    override func enter(_ me: Int) {
        let ticket = nextTicket.load(ordering: .relaxed)
        nextTicket.store(ticket + 1, ordering: .relaxed)
        while nowServing.load(ordering: .acquiring) != ticket {}
    }
}

extension Classic {
    static let tickets = [
        Classic("ticket lock", .survives) { incrementing($0, under: TicketLock()) },
        ticketLockInTwoSteps,
    ]

    static let ticketLockInTwoSteps = Classic(
        "ticket lock in two steps", .fails(.failedCheck)
    ) { scenario in
        incrementing(scenario, under: TicketLockInTwoSteps())
    }
}

// MARK: - Spinlock

class Spinlock: LockForTwo {
    let isTaken = Atomic(false)

    func enter(_ me: Int) {
        while isTaken.exchange(true, ordering: .acquiring) {}
    }

    func leave(_ me: Int) {
        isTaken.store(false, ordering: .releasing)
    }
}

final class SpinlockWithoutAcquire: Spinlock {
    override func enter(_ me: Int) {
        while isTaken.exchange(true, ordering: .relaxed) {}
    }
}

final class SpinlockWithoutRelease: Spinlock {
    override func leave(_ me: Int) {
        isTaken.store(false, ordering: .relaxed)
    }
}

extension Classic {
    static let spinlocks = [
        Classic("spinlock", .survives) { incrementing($0, under: Spinlock()) },
        Classic("spinlock without acquire", .fails(.dataRace)) {
            incrementing($0, under: SpinlockWithoutAcquire())
        },
        Classic("spinlock without release", .fails(.dataRace)) {
            incrementing($0, under: SpinlockWithoutRelease())
        },
    ]
}

// MARK: - Readers and a writer

final class ReadersWriterLock: Sendable {
    /// The number of readers inside; -1 for a writer.
    let inside = Atomic(0)

    func read<Result>(_ body: () -> Result) -> Result {
        while true {
            let readers = max(0, inside.load(ordering: .relaxed))
            if inside.compareExchange(
                expected: readers, desired: readers + 1, ordering: .acquiring
            ).exchanged {
                break
            }
        }
        defer { inside.wrappingSubtract(1, ordering: .releasing) }
        return body()
    }

    func write(_ body: () -> Void) {
        while !inside.compareExchange(expected: 0, desired: -1, ordering: .acquiring).exchanged {}
        body()
        inside.store(0, ordering: .releasing)
    }
}

final class Pair {
    var left = 0
    var right = 0
}

extension Classic {
    static let readersWriters = [readerAndWriter, twoReaders, twoReadersLocked]

    static let readerAndWriter = Classic("reader and writer", .survives) { scenario in
        let (lock, pair) = (ReadersWriterLock(), Pair())
        var seen = ""
        scenario.thread("reader") { seen = lock.read { "\(pair.left), \(pair.right)" } }
        scenario.thread("writer") {
            lock.write {
                pair.left = 1
                pair.right = 1
            }
        }
        scenario.outcome { seen }
        scenario.expect("0, 0", .acceptable, "the reader came first")
        scenario.expect("1, 1", .acceptable, "the writer came first")
    }

    static let twoReaders = Classic("two readers", .survives) { scenario in
        let lock = ReadersWriterLock()
        countReaders(scenario) { lock.read($0) }
    }

    static let twoReadersLocked = Classic("two readers behind a mutex", .survives) { scenario in
        let mutex = Box(Mutex(()))
        countReaders(scenario) { body in mutex.value.withLock { _ in body() } }
    }

    private static func countReaders(
        _ scenario: Scenario, _ read: @escaping (() -> Void) -> Void
    ) {
        let (inside, most) = (Box(Atomic(0)), Scenario.Log<Int>())
        for name in ["first", "second"] {
            scenario.thread(name) {
                read {
                    most.append(inside.value.wrappingAdd(1, ordering: .relaxed).newValue)
                    inside.value.wrappingSubtract(1, ordering: .relaxed)
                }
            }
        }
        scenario.outcome { most.entries.max() == 2 ? "together" : "in turn" }
        scenario.expect("in turn", .acceptable, "one had left before the other came")
        scenario.expect("together", .acceptable, "both read at the same time")
    }
}

/// Makes it possible to share a value that cannot be copied.
final class Box<Value: ~Copyable> {
    let value: Value

    init(_ value: consuming Value) {
        self.value = value
    }
}

// MARK: - Dining philosophers

final class Fork: Sendable {
    let mutex = Mutex(())
}

final class Philosopher {
    let first, second: Fork

    init(first: Fork, second: Fork) {
        self.first = first
        self.second = second
    }

    func dine(_ eat: () -> Void) {
        first.mutex.withLock { _ in
            second.mutex.withLock { _ in
                eat()
            }
        }
    }
}

extension Classic {
    static let philosophers = [
        twoPhilosophers,
        threePhilosophers,
        twoOrderedPhilosophers,
        Classic("three philosophers, ordered forks", .survives) {
            table(for: ["Plato", "Zeno", "Hypatia"], $0, forksAreOrdered: true)
        },
    ]

    static let twoPhilosophers = Classic("two philosophers", .fails(.deadlock)) { scenario in
        table(for: ["Plato", "Zeno"], scenario, forksAreOrdered: false)
    }

    static let threePhilosophers = Classic("three philosophers", .fails(.deadlock)) { scenario in
        table(for: ["Plato", "Zeno", "Hypatia"], scenario, forksAreOrdered: false)
    }

    static let twoOrderedPhilosophers = Classic(
        "two philosophers, ordered forks", .survives
    ) { scenario in
        table(for: ["Plato", "Zeno"], scenario, forksAreOrdered: true)
    }

    /// Each philosopher takes the left fork first or, if forks are ordered, the one with the lower
    /// number.
    private static func table(
        for names: [String], _ scenario: Scenario, forksAreOrdered: Bool
    ) {
        let forks = names.map { _ in Fork() }
        let meals = Scenario.Log<String>()
        for (seat, name) in names.enumerated() {
            let (left, right) = (seat, (seat + 1) % names.count)
            let turned = forksAreOrdered && right < left
            let philosopher = Philosopher(
                first: forks[turned ? right : left], second: forks[turned ? left : right])
            scenario.thread(name) { philosopher.dine { meals.append(name) } }
        }
        scenario.check {
            try Scenario.require(meals.entries.count == names.count, "somebody went hungry")
        }
    }
}
