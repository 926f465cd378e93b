import PromiseOperators
import RaceLab
import RaceLabTesting
import Testing

/// `all` with a limit of two, where the first two promises are settled by two threads. Both then
/// come for the next input, and one of them has to leave it to the other.
///
/// They are here and not in the catalogue because they have thousands of interleavings, and a look
/// at the matrix is not to wait for them.
enum LimitScenarios {
    private enum Event: Equatable {
        case started(Int), settled(Int)
    }

    private static let limit = 2

    /// Whoever finishes first starts the third, which is fulfilled before it is asked for.
    static func threeFulfilled(_ scenario: Scenario) {
        let started = Scenario.Log<Int>()
        let (pairs, work) = twoPending(and: [.fulfilled(30)])
        let ends = ends(
            of: AWPromise.all(0..<3, limit: limit, on: here) { index in
                started.append(index)
                return work[index]
            })
        scenario.thread("first") { pairs[0].resolver.fulfill(10) }
        scenario.thread("second") { pairs[1].resolver.fulfill(20) }
        scenario.check {
            try Scenario.require(started.entries == [0, 1, 2], "started: \(started.entries)")
            try Scenario.require(
                ends.entries == ["fulfilled [10, 20, 30]"], "ends: \(ends.entries)")
        }
    }

    /// Two more are started, and stay pending until both threads have come to their ends.
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

    /// The third may be started or not: it depends on who comes first. The error must arrive.
    static func oneRejected(_ scenario: Scenario) {
        let started = Scenario.Log<Int>()
        let (pairs, work) = twoPending(and: [.fulfilled(30)])
        let ends = ends(
            of: AWPromise.all(0..<3, limit: limit, on: here) { index in
                started.append(index)
                return work[index]
            })
        scenario.thread("first") { pairs[0].resolver.fulfill(10) }
        scenario.thread("second") { pairs[1].resolver.reject(Trouble.here) }
        scenario.check {
            try Scenario.require(ends.entries == ["rejected here"], "ends: \(ends.entries)")
        }
        scenario.outcome { "started: \(started.entries)" }
    }

    private static func twoPending(
        and more: [AWPromise<Int>]
    ) -> (pairs: [(promise: AWPromise<Int>, resolver: Resolver<Int>)], work: [AWPromise<Int>]) {
        let pairs = (0..<2).map { _ in AWPromise<Int>.pending() }
        return (pairs, pairs.map(\.promise) + more)
    }

    /// What the observer of a promise is told, each time.
    private static func ends(of promise: AWPromise<[Int]>) -> Scenario.Log<String> {
        let ends = Scenario.Log<String>()
        promise.observe(on: here) { outcome in
            switch outcome {
            case .success(let values): ends.append("fulfilled \(values)")
            case .failure(let error): ends.append("rejected \(error)")
            }
        }
        return ends
    }

    /// All four are started, in order, and never is one when two are in flight.
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
    @Test("fulfill ∥ fulfill: the third is started once, and its value is there")
    func threeFulfilled() {
        expectSurvival(LimitScenarios.threeFulfilled)
    }

    @Test("fulfill ∥ fulfill: never more in flight than the limit allows")
    func fourStarted() {
        expectSurvival(LimitScenarios.fourStarted)
    }

    @Test("fulfill ∥ reject: the error arrives, whether the third is started or not")
    func oneRejected() {
        let report = expectSurvival(LimitScenarios.oneRejected)
        #expect(Set(report.outcomes.keys) == ["started: [0, 1]", "started: [0, 1, 2]"])
    }
}
