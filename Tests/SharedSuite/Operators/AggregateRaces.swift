import PromiseOperators
import RaceLab

// Aggregates whose promises are settled by several threads.

struct R14: OperatorRace {
    let id = "R14"
    let name = "all: settled by two threads"
    let title = "Two threads fulfill the parts of a combined promise"
    let story =
        "`all` waits for two promises, which two threads fulfill. It must be fulfilled once, "
        + "with both values in order; also as a tuple, and with a limit on the work in flight."

    // A limit that is reached makes thousands of interleavings, too many for the matrix:
    // Tests/Promises/SubjectTests/Operators/LimitRaceTests.swift explores them.
    var scenarios: [@Sendable (Scenario) -> Void] { [array, tuple, limited] }

    private func array(_ scenario: Scenario) {
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let all = AWPromise.all([first, second])
        let ends = Ends(of: all)
        scenario.thread("first") { firstResolver.fulfill(1) }
        scenario.thread("second") { secondResolver.fulfill(2) }
        scenario.check { try ends.requireOnly("fulfilled [1, 2]") }
        scenario.state("all") { all.result == nil ? "pending" : "settled" }
    }

    private func tuple(_ scenario: Scenario) {
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<String>.pending()
        let ends = Ends(of: AWPromise.all(first, second))
        scenario.thread("first") { firstResolver.fulfill(1) }
        scenario.thread("second") { secondResolver.fulfill("two") }
        scenario.check { try ends.requireOnly("fulfilled (1, \"two\")") }
    }

    /// The limit admits all work at once, so no work starts later: each thread must find out
    /// whether it was the last.
    private func limited(_ scenario: Scenario) {
        let pairs = (0..<2).map { _ in AWPromise<Int>.pending() }
        let work = pairs.map(\.promise)
        let ends = Ends(of: AWPromise.all(0..<2, limit: 3, on: ImmediateDispatcher()) { work[$0] })
        for (index, name) in ["first", "second"].enumerated() {
            scenario.thread(name) { pairs[index].resolver.fulfill(index + 1) }
        }
        scenario.check { try ends.requireOnly("fulfilled [1, 2]") }
    }
}

struct R15: OperatorRace {
    let id = "R15"
    let name = "all: fulfill ∥ reject"
    let title = "One part of a combined promise is fulfilled, another rejected"
    let story =
        "`all` waits for two promises. One thread fulfills the first while another rejects "
        + "the second. It must be rejected with that error, with a limit and without."

    var scenarios: [@Sendable (Scenario) -> Void] { [plain, limited] }

    private func plain(_ scenario: Scenario) {
        setUp(scenario) { AWPromise.all($0) }
    }

    private func limited(_ scenario: Scenario) {
        setUp(scenario) { work in
            AWPromise.all([0, 1], limit: 2, on: ImmediateDispatcher()) { work[$0] }
        }
    }

    private func setUp(
        _ scenario: Scenario, _ together: ([AWPromise<Int>]) -> AWPromise<[Int]>
    ) {
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let all = together([first, second])
        let ends = Ends(of: all)
        scenario.thread("fulfiller") { firstResolver.fulfill(1) }
        scenario.thread("rejecter") { secondResolver.reject(Sent("no")) }
        scenario.check { try ends.requireOnly("rejected 'no'") }
        scenario.state("all") { all.result == nil ? "pending" : "settled" }
    }
}

struct R17: OperatorRace {
    let id = "R17"
    let name = "aggregates settled inside"
    let title = "A handler settles a part of its own combined promise"
    let story =
        "A handler of a `race` settles a promise that the race and an `all` wait for. An "
        + "aggregate that settled under a lock of its own would wait for itself."

    var scenarios: [@Sendable (Scenario) -> Void] { [settledInside] }

    private func settledInside(_ scenario: Scenario) {
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let race = AWPromise.race([first, second])
        race.observe(on: ImmediateDispatcher()) { _ in
            secondResolver.settle(.success(20))
        }
        let ends = Ends(of: AWPromise.all([first, second]))
        scenario.thread("first") { firstResolver.settle(.success(1)) }
        scenario.thread("second") { secondResolver.settle(.success(2)) }
        scenario.requireOneEnd(
            ends,
            [
                "fulfilled [1, 2]": "both threads were before the handler",
                "fulfilled [1, 20]": "the handler was before the second",
            ])
        scenario.state("race") { SharedSuite.describe(race.result) }
    }
}
