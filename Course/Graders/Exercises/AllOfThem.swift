import PromiseOperators
import RaceLab
import SharedSuite

extension Exercise {
    static let allOfThem = Exercise(
        8, "All of them", chapter: 8, adapter: "All", "MainQueue",
        hints: [
            "Settling the aggregate twice is harmless: a promise settles once, and `settle` "
                + "ignores a second call. So an error can be passed on without a check, and one "
                + "question is left: which thread supplies the last value?",
            "Two threads supply the last two values. If each thread writes its value and "
                + "then checks whether all are there, which interleavings are possible, and what "
                + "does each thread see? Writing and checking must be one step.",
            "You do not have to collect the values at all. When all promises are fulfilled, "
                + "where are their values, in which order, and since when?",
            "An observer runs once for each place of its promise in the list. So count "
                + "places, not promises. And what happens when there are no places at all?",
        ],
        afterword:
            "An atomic counter, a Mutex around the array of values, a chain from one "
            + "promise to the next with a shortcut for errors, even a scan of the whole list "
            + "at every value: all of them are correct, because the promise that you return "
            + "settles only once. PromiseOperators counts, and then reads the results of the "
            + "promises: All.swift.",
        forbidden: SourceRules.sentAway + SourceRules.finished("all", "allSettled", "follow"),
        requirements: AllRequirements.all)
}

private enum AllRequirements {
    typealias Answer = any AllAnswer

    static let all: [Requirement] = [
        .oneThread(
            "E08.1", "values in the order of the list",
            "Some promises are fulfilled one after the other, in different orders. The "
                + "aggregate must be fulfilled when the last of them is, and not before, with "
                + "the values in the order of the list: numbers, optional values, or `Void`.",
            asking:
                "A value arrives. How does your code know the place of its promise in the list?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try orders(answer) } },
        .oneThread(
            "E08.2", "settled before",
            "All promises of the list, or some, are already fulfilled when `whenAll` is called.",
            asking:
                "When does an observer of a settled promise run, and what has been set up "
                + "by then?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try settledBefore(answer) } },
        .oneThread(
            "E08.3", "an empty list",
            "There is nothing to wait for. The aggregate must be fulfilled at once, with an "
                + "empty array.",
            asking: "Which of your lines runs if there is no promise to observe?",
            with: Answer.self
        ) { answer in
            try withoutMainQueue {
                try Ear(on: answer.together([AWPromise<Int>]())).expect("fulfilled []", "at once")
                try Ear(on: answer.together([AWPromise<String>]())).expect(
                    "fulfilled []", "at once")
            }
        },
        .oneThread(
            "E08.4", "one promise, several places",
            "The same promise occurs twice in the list, next to another one. Its value must "
                + "occur twice in the array.",
            asking: "How does your code distinguish two places in the list?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try severalPlaces(answer) } },
        .oneThread(
            "E08.5", "an error is passed on at once",
            "One promise of the list is rejected while others are pending, or two are. The "
                + "aggregate must be rejected at once, with the first error, and stay rejected.",
            asking:
                "Follow an error from the promise that was rejected. Where does it go, and "
                + "what does it wait for on its way?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try errors(answer) } },
        .oneThread(
            "E08.6", "settled inside",
            "An observer of the aggregate settles promises that the aggregate was waiting for.",
            asking:
                "Which code runs inside your call that settles the aggregate, and what do "
                + "you hold at that moment?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try settledInside(answer) } },
        .unwatched(
            "E08.14", "hundreds of promises",
            "The aggregate waits for three hundred promises, which are fulfilled one after "
                + "the other, from the first or from the last. It must be fulfilled when the last "
                + "one is, with all values.",
            asking: "How far can your code count?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try hundreds(answer) } },
        .scenario(
            "E08.7", "fulfill ∥ fulfill",
            "The aggregate waits for two promises, which two threads fulfill. It must be "
                + "fulfilled once, with both values.",
            asking:
                "At the marked step, what has the one thread seen of the other's value, and "
                + "what will it never read again?",
            with: Answer.self, fulfilledByTwo),
        .scenario(
            "E08.8", "fulfill ∥ fulfill ∥ fulfill",
            "The aggregate waits for three promises, which three threads fulfill. It must "
                + "be fulfilled once, with all values.",
            asking:
                "What does a thread do when it finds that another one was faster? And if "
                + "that happens to two of them?",
            with: Answer.self, atMost: 2_000
        ) { scenario, answer in
            let parts = (1...3).map { _ in AWPromise<Int>.pending() }
            let whole = answer.together(parts.map(\.promise))
            let ear = Ear(on: whole)
            for (index, name) in ["first", "second", "third"].enumerated() {
                scenario.thread(name) { parts[index].resolver.fulfill(index + 1) }
            }
            scenario.check { try ear.expect("fulfilled [1, 2, 3]") }
            scenario.state("whole") { Ear.words(whole.result) }
        },
        .scenario(
            "E08.9", "fulfill ∥ reject",
            "One thread fulfills a promise of the list while another one rejects the next.",
            asking: "What does the later thread assume about the earlier one?",
            with: Answer.self
        ) { scenario, answer in
            let (first, second) = (AWPromise<Int>.pending(), AWPromise<Int>.pending())
            let whole = answer.together([first.promise, second.promise])
            let ear = Ear(on: whole)
            scenario.thread("fulfiller") { first.resolver.fulfill(1) }
            scenario.thread("rejecter") { second.resolver.reject(Sent("no")) }
            scenario.check { try ear.expect("rejected 'no'") }
            scenario.state("whole") { Ear.words(whole.result) }
        },
        .scenario(
            "E08.10", "reject ∥ reject",
            "Two threads reject one promise each. Either may be first, and only its error "
                + "counts.",
            asking: "Where is it decided which of two errors is the first?",
            with: Answer.self
        ) { scenario, answer in
            let (first, second) = (AWPromise<Int>.pending(), AWPromise<Int>.pending())
            let whole = answer.together([first.promise, second.promise])
            scenario.thread("first") { first.resolver.reject(Sent("one")) }
            scenario.thread("second") { second.resolver.reject(Sent("two")) }
            scenario.expectOneEnd(
                Ear(on: whole),
                [
                    "rejected 'one'": "the first thread was earlier",
                    "rejected 'two'": "the second thread was earlier",
                ])
            scenario.state("whole") { Ear.words(whole.result) }
        },
        .scenario(
            "E08.11", "whenAll ∥ fulfill",
            "One thread calls `whenAll` for two promises; another one fulfills the first.",
            asking:
                "What if a promise settles between two of your lines, while you are setting up?",
            with: Answer.self
        ) { scenario, answer in
            let (first, second) = (AWPromise<Int>.pending(), AWPromise<Int>.pending())
            second.resolver.fulfill(2)
            let ear = Ear()
            scenario.thread("waiter") {
                ear.listen(to: answer.together([first.promise, second.promise]))
            }
            scenario.thread("fulfiller") { first.resolver.fulfill(1) }
            scenario.check { try ear.expect("fulfilled [1, 2]") }
        },
        .independence(
            "E08.13", "two lists, two threads",
            "Two threads wait for their own list, and settle it. Neither may wait for the other.",
            asking: "How many locks are there for a thousand lists?",
            with: Answer.self,
            first: { useAlone($0, 1) }, second: { useAlone($0, 2) }),
    ]

    // MARK: One thread

    private static func orders(_ answer: Answer) throws {
        for order in [[0], [0, 1], [1, 0], [2, 0, 1], [3, 1, 4, 0, 2]] {
            try arrive(answer, order.indices.map { 7 * $0 + order.count }, in: order)
        }
        try arrive(answer, [nil, 3, nil], in: [2, 0, 1])
        try arrive(answer, [Void](repeating: (), count: 2), in: [1, 0])
    }

    private static func arrive<Value: Sendable>(
        _ answer: Answer, _ values: [Value], in order: [Int]
    ) throws {
        let parts = order.map { _ in AWPromise<Value>.pending() }
        let whole = answer.together(parts.map(\.promise))
        let ear = Ear(on: whole)
        for index in order {
            try ear.expectNothing("while a promise is pending")
            parts[index].resolver.fulfill(values[index])
        }
        let got = ((try? whole.result?.get()) ?? []).map { "\($0)" }
        let expected = values.map { "\($0)" }
        if got != expected, got.sorted() == expected.sorted() {
            throw Fault("out of order", "it is fulfilled with \(got); the list is \(expected)")
        }
        try ear.expect("fulfilled \(values)", "after the last one")
    }

    private static func hundreds(_ answer: Answer) throws {
        let values = Array(1...300)
        for order in [Array(values.indices), values.indices.reversed()] {
            let parts = values.map { _ in AWPromise<Int>.pending() }
            let ear = Ear(on: answer.together(parts.map(\.promise)))
            for index in order {
                try ear.expectNothing("while a promise is pending")
                parts[index].resolver.fulfill(values[index])
            }
            try ear.expect("fulfilled \(values)", "after the last one")
        }
    }

    private static func settledBefore(_ answer: Answer) throws {
        let done = [5, 6, 7].map { AWPromise.fulfilled($0) }
        try Ear(on: answer.together(done)).expect("fulfilled [5, 6, 7]", "at once")
        let (late, resolver) = AWPromise<Int>.pending()
        for place in 0...3 {
            var parts = done
            parts.insert(late, at: place)
            let ear = Ear(on: answer.together(parts))
            if place < 3 { try ear.expectNothing("while a promise is pending") }
            if place == 3 {
                resolver.fulfill(1)
                try ear.expect("fulfilled [5, 6, 7, 1]", "after the last one")
            }
        }
    }

    private static func severalPlaces(_ answer: Answer) throws {
        let (twin, single) = (AWPromise<String>.pending(), AWPromise<String>.pending())
        let ear = Ear(on: answer.together([twin.promise, single.promise, twin.promise]))
        twin.resolver.fulfill("twin")
        try ear.expectNothing("while a promise is pending")
        single.resolver.fulfill("single")
        try ear.expect("fulfilled \(["twin", "single", "twin"])", "after the last one")
        let settled = AWPromise.fulfilled(3)
        try Ear(on: answer.together([settled, settled])).expect("fulfilled [3, 3]", "at once")
    }

    private static func errors(_ answer: Answer) throws {
        for bad in 0..<3 {
            let parts = (0..<3).map { _ in AWPromise<Int>.pending() }
            let ear = Ear(on: answer.together(parts.map(\.promise)))
            parts[bad].resolver.reject(Sent("error \(bad)"))
            try ear.expect("rejected 'error \(bad)'", "after a rejection")
            parts[(bad + 1) % 3].resolver.reject(Sent("late"))
            parts[(bad + 2) % 3].resolver.fulfill(2)
            try ear.expect("rejected 'error \(bad)'", "after all are settled")
        }
        let last = (0..<2).map { _ in AWPromise<Int>.pending() }
        let ear = Ear(on: answer.together(last.map(\.promise)))
        last[0].resolver.fulfill(1)
        last[1].resolver.reject(Sent("last"))
        try ear.expect("rejected 'last'", "after the last one, a rejection,")
        let before = [AWPromise.fulfilled(1), .rejected(Sent("earlier")), .rejected(Sent("later"))]
        try Ear(on: answer.together(before)).expect("rejected 'earlier'", "at once")
    }

    private static func settledInside(_ answer: Answer) throws {
        let parts = (0..<3).map { _ in AWPromise<Int>.pending() }
        let whole = answer.together(parts.map(\.promise))
        let ear = Ear(on: whole)
        whole.observe(on: ImmediateDispatcher()) { _ in
            parts[0].resolver.settle(.success(1))
            parts[2].resolver.settle(.failure(Sent("inside")))
        }
        parts[1].resolver.reject(Sent("no"))
        try ear.expect("rejected 'no'")
        let (part, resolver) = AWPromise<Int>.pending()
        let another = answer.together([part])
        another.observe(on: ImmediateDispatcher()) { _ in
            Ear(on: answer.together([part, part])).listen(to: part)
        }
        let last = Ear(on: another)
        resolver.fulfill(9)
        try last.expect("fulfilled [9]")
    }

    // MARK: Several threads

    private static func fulfilledByTwo(_ scenario: Scenario, _ answer: Answer) {
        let (first, second) = (AWPromise<Int>.pending(), AWPromise<Int>.pending())
        let whole = answer.together([first.promise, second.promise])
        let ear = Ear(on: whole)
        scenario.thread("first") { first.resolver.fulfill(1) }
        scenario.thread("second") { second.resolver.fulfill(2) }
        scenario.check { try ear.expect("fulfilled [1, 2]") }
        scenario.state("whole") { Ear.words(whole.result) }
    }

    private static func useAlone(_ answer: Answer, _ value: Int) {
        let parts = (0..<2).map { _ in AWPromise<Int>.pending() }
        let whole = answer.together(parts.map(\.promise))
        for part in parts { part.resolver.fulfill(value) }
        _ = whole.result
        _ = answer.together([AWPromise<Int>.rejected(Sent("no")), .fulfilled(value)]).result
    }
}
