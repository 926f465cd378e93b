import RaceLab
import Synchronization

/// Collects two values. Each access is locked, but a value is counted before it is stored.
final class EarlyCount: Sendable {
    private let missing = Mutex(2)
    private let values = Mutex([Int?](repeating: nil, count: 2))
    private let done: @Sendable ([Int?]) -> Void

    init(done: @escaping @Sendable ([Int?]) -> Void) {
        self.done = done
    }

    func receive(_ value: Int, at index: Int) {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        values.withLock { $0[index] = value }
        if isLast { done(values.withLock { $0 }) }
    }
}

/// Collects two values, and stores each before it is counted.
final class LateCount: Sendable {
    private let missing = Mutex(2)
    private let values = Mutex([Int?](repeating: nil, count: 2))
    private let done: @Sendable ([Int?]) -> Void

    init(done: @escaping @Sendable ([Int?]) -> Void) {
        self.done = done
    }

    func receive(_ value: Int, at index: Int) {
        values.withLock { $0[index] = value }
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { done(values.withLock { $0 }) }
    }
}

/// Collects two values, and looks whether both are there. Two threads may find that they are.
final class NoCount: Sendable {
    private let values = Mutex([Int?](repeating: nil, count: 2))
    private let done: @Sendable ([Int?]) -> Void

    init(done: @escaping @Sendable ([Int?]) -> Void) {
        self.done = done
    }

    func receive(_ value: Int, at index: Int) {
        values.withLock { $0[index] = value }
        let now = values.withLock { $0 }
        if !now.contains(nil) { done(now) }
    }
}

/// Two threads deliver the values 10 and 20. The first result counts, as in a promise, and it must be
/// complete.
private func twoValues(
    _ scenario: Scenario, receive: @escaping @Sendable (_ value: Int, _ index: Int) -> Void,
    _ log: Scenario.Log<[Int?]>
) {
    scenario.thread("first") { receive(10, 0) }
    scenario.thread("second") { receive(20, 1) }
    scenario.check { try Scenario.require(log.entries.first == [10, 20], "a value is missing") }
}

func earlyCount(_ scenario: Scenario) {
    let log = Scenario.Log<[Int?]>()
    let aggregate = EarlyCount { log.append($0) }
    twoValues(scenario, receive: { aggregate.receive($0, at: $1) }, log)
}

func lateCount(_ scenario: Scenario) {
    let log = Scenario.Log<[Int?]>()
    let aggregate = LateCount { log.append($0) }
    twoValues(scenario, receive: { aggregate.receive($0, at: $1) }, log)
}

func noCount(_ scenario: Scenario) {
    let log = Scenario.Log<[Int?]>()
    let aggregate = NoCount { log.append($0) }
    twoValues(scenario, receive: { aggregate.receive($0, at: $1) }, log)
}
