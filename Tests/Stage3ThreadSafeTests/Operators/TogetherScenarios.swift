import RaceLab
import Stage3ThreadSafe

/// Several promises at once, settled by several threads.
enum TogetherScenarios {
    /// R14: two promises settled by two threads.
    static func allFulfilled(_ scenario: Scenario) {
        let ends = Log<String>()
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        AWPromise.all([first, second]).observe(on: here) { ends.append(describe($0)) }
        scenario.thread("first") { firstResolver.fulfill(1) }
        scenario.thread("second") { secondResolver.fulfill(2) }
        scenario.check {
            try require(!ends.entries.isEmpty, "never settled")
            try require(ends.entries.count == 1, "settled twice")
            try require(ends.entries == ["fulfilled [1, 2]"], "a hole, or out of order")
        }
    }

    /// R14, for promises of different types.
    static func tupleFulfilled(_ scenario: Scenario) {
        let ends = Log<String>()
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<String>.pending()
        AWPromise.all(first, second).observe(on: here) { ends.append(describe($0)) }
        scenario.thread("first") { firstResolver.fulfill(1) }
        scenario.thread("second") { secondResolver.fulfill("two") }
        scenario.check {
            try require(ends.entries == ["fulfilled (1, \"two\")"], "\(ends.entries)")
        }
    }

    /// R15: one fulfils ∥ one rejects.
    static func allRejected(_ scenario: Scenario) {
        let ends = Log<String>()
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        AWPromise.all([first, second]).observe(on: here) { ends.append(describe($0)) }
        scenario.thread("fulfilling") { firstResolver.fulfill(1) }
        scenario.thread("rejecting") { secondResolver.reject(Trouble.here) }
        scenario.check {
            try require(ends.entries == ["rejected here"], "\(ends.entries)")
        }
    }

    /// R15 for work that is limited: a rejection is not swallowed.
    static func limitedRejected(_ scenario: Scenario) {
        let ends = Log<String>()
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let work = [first, second]
        AWPromise.all([0, 1], limit: 2, on: here) { work[$0] }
            .observe(on: here) { ends.append(describe($0)) }
        scenario.thread("fulfilling") { firstResolver.fulfill(1) }
        scenario.thread("rejecting") { secondResolver.reject(Trouble.here) }
        scenario.check {
            try require(ends.entries == ["rejected here"], "\(ends.entries)")
        }
    }

    /// R14 for work that is limited: whoever finishes first starts the third.
    static func limitedFulfilled(_ scenario: Scenario) {
        let ends = Log<String>()
        let started = Log<Int>()
        let finished = Log<Int>()
        let exceeded = Log<Int>()
        let pairs = (0..<2).map { _ in AWPromise<Int>.pending() }
        let work = pairs.map(\.promise) + [AWPromise.fulfilled(30)]
        AWPromise.all(0..<3, limit: 2, on: here) { index in
            started.append(index)
            if started.entries.count - finished.entries.count > 2 { exceeded.append(index) }
            return work[index]
        }.observe(on: here) { ends.append(describe($0)) }
        for (index, name) in ["first", "second"].enumerated() {
            scenario.thread(name) {
                finished.append(index)
                pairs[index].resolver.fulfill(10 * (index + 1))
            }
        }
        scenario.check {
            try require(exceeded.entries.isEmpty, "more than 2 in flight")
            try require(started.entries == [0, 1, 2], "started: \(started.entries)")
            try require(ends.entries == ["fulfilled [10, 20, 30]"], "\(ends.entries)")
        }
    }

    /// R16: one winner, whoever it is.
    static func race(_ scenario: Scenario) {
        let ends = Log<String>()
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        AWPromise.race([first, second]).observe(on: here) { ends.append(describe($0)) }
        scenario.thread("first") { firstResolver.fulfill(1) }
        scenario.thread("second") { secondResolver.reject(Trouble.here) }
        scenario.check { try require(ends.entries.count == 1, "\(ends.entries)") }
        scenario.outcome { ends.entries[0] }
    }

    /// R16: the value wins, whenever it comes.
    static func anyWithOneValue(_ scenario: Scenario) {
        let ends = Log<String>()
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        AWPromise.any([first, second]).observe(on: here) { ends.append(describe($0)) }
        scenario.thread("rejecting") { firstResolver.reject(Trouble.here) }
        scenario.thread("fulfilling") { secondResolver.fulfill(2) }
        scenario.check { try require(ends.entries == ["fulfilled 2"], "\(ends.entries)") }
    }

    /// R16: no value; whoever comes last finds all errors.
    static func anyWithoutValue(_ scenario: Scenario) {
        let ends = Log<String>()
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        AWPromise.any([first, second]).observe(on: here) { ends.append(describe($0)) }
        scenario.thread("first") { firstResolver.reject(Trouble.here) }
        scenario.thread("second") { secondResolver.reject(Trouble.there) }
        scenario.check {
            let expected = "rejected allRejected([Trouble.here, Trouble.there])"
            try require(ends.entries.count == 1, "\(ends.entries)")
            let seen = ends.entries[0].replacing("Stage3ThreadSafeTests.", with: "")
            try require(seen == expected, seen)
        }
    }

    /// R17: a handler of the aggregate settles what the aggregate is made of, and asks it again.
    static func settledInside(_ scenario: Scenario) {
        let ends = Log<String>()
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let (third, thirdResolver) = AWPromise<Int>.pending()
        AWPromise.race([first, second]).observe(on: here) { _ in
            firstResolver.settle(.success(10))
            secondResolver.settle(.success(20))
            thirdResolver.settle(.success(30))
        }
        AWPromise.all([first, second, third]).observe(on: here) { ends.append(describe($0)) }
        scenario.thread("first") { firstResolver.settle(.success(1)) }
        scenario.thread("second") { secondResolver.settle(.success(2)) }
        scenario.check { try require(ends.entries.count == 1, "\(ends.entries)") }
        scenario.outcome { ends.entries[0] }
    }

    private static func describe<Value>(_ outcome: Result<Value, any Error>) -> String {
        switch outcome {
        case .success(let value): "fulfilled \(value)"
        case .failure(let error): "rejected \(error)"
        }
    }
}
