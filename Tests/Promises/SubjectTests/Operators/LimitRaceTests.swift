import PromiseOperators
import RaceLab
import RaceLabTesting
import Testing

/// `all` with a limit of two, where two threads settle the first two promises. Both then try to
/// start the next input, and one of them must leave it to the other.
///
/// These scenarios are not in the catalogue because they have thousands of interleavings, which
/// would make the matrix slow.
enum LimitScenarios {
    private enum Event: Equatable {
        case started(Int), settled(Int)
    }

    private static let limit = 2

    /// The thread that settles first starts the third promise, which is already fulfilled.
    static func threeFulfilled(_ scenario: Scenario) {
        let (pairs, started, ends) = startThree()
        scenario.thread("first") { pairs[0].resolver.fulfill(10) }
        scenario.thread("second") { pairs[1].resolver.fulfill(20) }
        scenario.check {
            try Scenario.require(started.entries == [0, 1, 2], "started: \(started.entries)")
            try Scenario.require(
                ends.entries == ["fulfilled [10, 20, 30]"], "ends: \(ends.entries)")
        }
    }

    /// Two more are started, and stay pending until both threads have ended.
    static func fourStarted(_ scenario: Scenario) {
        let events = Scenario.Log<Event>()
        let pairs = (0..<4).map { _ in AWPromise<Int>.pending() }
        for (index, pair) in pairs.enumerated() {
            pair.promise.observe(on: here) { _ in events.append(.settled(index)) }
        }
        let ends = ends(
            of: AWPromise.all(0..<4, limit: limit, on: here) { index in
                events.append(.started(index))
                return pairs[index].promise
            })
        scenario.thread("first") { pairs[0].resolver.fulfill(10) }
        scenario.thread("second") { pairs[1].resolver.fulfill(20) }
        scenario.check {
            try requireLimit(events.entries)
            try Scenario.require(ends.entries.isEmpty, "it did not wait for what was started last")
            pairs[2].resolver.fulfill(30)
            pairs[3].resolver.fulfill(40)
            try Scenario.require(
                ends.entries == ["fulfilled [10, 20, 30, 40]"], "ends: \(ends.entries)")
        }
    }

    /// Whether the third is started depends on the order of the threads. The error must arrive.
    static func oneRejected(_ scenario: Scenario) {
        let (pairs, started, ends) = startThree()
        scenario.thread("first") { pairs[0].resolver.fulfill(10) }
        scenario.thread("second") { pairs[1].resolver.reject(Trouble.here) }
        scenario.check {
            try Scenario.require(ends.entries == ["rejected here"], "ends: \(ends.entries)")
        }
        scenario.outcome { "started: \(started.entries)" }
    }

    /// The first two are pending, the third is fulfilled.
    private static func startThree() -> (
        pairs: [(promise: AWPromise<Int>, resolver: Resolver<Int>)], started: Scenario.Log<Int>,
        ends: Scenario.Log<String>
    ) {
        let started = Scenario.Log<Int>()
        let pairs = (0..<2).map { _ in AWPromise<Int>.pending() }
        let work = pairs.map(\.promise) + [.fulfilled(30)]
        let all = AWPromise.all(0..<3, limit: limit, on: here) { index in
            started.append(index)
            return work[index]
        }
        return (pairs, started, ends(of: all))
    }

    /// Checks that all four are started in order, and never more than two are in flight.
    private static func requireLimit(_ events: [Event]) throws {
        var started: [Int] = []
        var inFlight = 0
        for event in events {
            switch event {
            case .settled: inFlight -= 1
            case .started(let index):
                started.append(index)
                inFlight += 1
                try Scenario.require(inFlight <= limit, "more are in flight than the limit allows")
            }
        }
        try Scenario.require(started == [0, 1, 2, 3], "started: \(started)")
    }
}

@Suite("Limit, two threads", .needsTheLab)
struct LimitRaceTests {
    @Test("fulfill ∥ fulfill: the third is started once, and its value is in the result")
    func threeFulfilled() {
        expectSurvival(sample: 2, LimitScenarios.threeFulfilled)
    }

    @Test("fulfill ∥ fulfill: never more in flight than the limit allows")
    func fourStarted() {
        expectSurvival(LimitScenarios.fourStarted)
    }

    @Test("fulfill ∥ reject: the error arrives, whether the third is started or not")
    func oneRejected() {
        let exploration = expectSurvival(LimitScenarios.oneRejected)
        #expect(Set(exploration.outcomes.keys) == ["started: [0, 1]", "started: [0, 1, 2]"])
    }
}
