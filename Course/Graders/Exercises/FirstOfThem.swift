import Dispatch
import PromiseOperators
import RaceLab
import SharedSuite

extension Exercise {
    static let firstOfThem = Exercise(
        9, "The first of them", chapter: 8, adapter: "Race", "MainQueue",
        hints: [
            "You do not have to find out which promise is first: all of them may try to "
                + "settle the same promise, and the first call counts. `settle` is made for "
                + "callers that may come second.",
            "A timeout is a race, too, between the promise and an alarm. Either may win, "
                + "and either leaves something to clean up when it loses.",
            "What has to be cleaned up exists only after it has been set up, and by then "
                + "the race may be over. What can report that a race is over, to early and late "
                + "callers?",
            "One object is settled exactly when the race is over, and calls its observers, "
                + "early or late. How many observers may it have?",
        ],
        afterword:
            "The shortest solution observes the outcome once for each contestant, and "
            + "withdraws there: a promise calls late observers, too. A list of cleanup "
            + "functions behind a lock, together with a flag for the end, does the same by "
            + "hand. A box that holds the resolver, shared by all handlers and emptied by the "
            + "winner, keeps nothing of the race alive; its handlers must still be "
            + "withdrawn. PromiseOperators uses the first: Follow.swift.",
        forbidden: SourceRules.sentAway
            + SourceRules.finished("race", "timeout", "follow", "cancelled")
            + SourceRules.finished("CancellationSource", "CancellationToken")
            + SourceRules.clockOfTheTests,
        requirements: RaceRequirements.all)
}

private enum RaceRequirements {
    typealias Answer = any RaceAnswer

    static let all: [Requirement] = [
        .oneThread(
            "E09.1", "the first one wins",
            "Each promise of a list is the first in turn, once with a value and once with "
                + "an error. The others settle later, and change nothing.",
            asking: "How does your code notice that a promise was rejected, and where?",
            with: Answer.self, oneWins),
        .oneThread(
            "E09.2", "settled before",
            "Promises of the list are already settled. The first of those wins, at once. For an empty "
                + "list, the outcome is rejected with `noPromises`.",
            asking:
                "In which order does your code visit the promises, and what happens at the "
                + "first that is settled?",
            with: Answer.self, settledBefore),
        .oneThread(
            "E09.4", "within the limit",
            "A promise settles before its time is up, with a value or an error, or was "
                + "settled before the call. The outcome must settle the same way, at once, and leave no "
                + "call on the clock. The limits are from zero to thousands of years.",
            asking:
                "When the promise settles, which line passes that on, in both cases, and which line "
                + "cancels the alarm?",
            with: Answer.self, inTime),
        .oneThread(
            "E09.5", "after the limit",
            "The time is up: the outcome is rejected at the limit, not a nanosecond "
                + "earlier or later. The promise settles afterwards, which changes nothing.",
            asking: "What does the clock call, when, and what does that function do?",
            with: Answer.self, tooLate),
        .oneThread(
            "E09.7", "the loser is released",
            "A race is over, while another of its promises is pending and lives on. The "
                + "promise that `winner` has returned must be freed when its last reference is "
                + "released, and so must the winner.",
            asking: "What does the handler hold that still waits on the promise that has lost?",
            with: Answer.self, loserIsLetGo),
        .oneThread(
            "E09.8", "settled inside",
            "An observer of the outcome settles the other promises, and advances the clock.",
            asking:
                "Which code runs inside the call that settles the outcome, and what do you "
                + "hold meanwhile?",
            with: Answer.self, settledInside),
        .scenario(
            "E09.9", "fulfill ∥ reject",
            "Two threads settle one promise of the list each, one with a value and one with "
                + "an error. Either may be first.",
            asking:
                "Both threads assume that they have won. What tells one of them that it has not?",
            with: Answer.self, twoRacers),
        .unwatched(
            "E09.16", "nothing is left with the losers",
            "A race is over, with a value or an error, or a limit has passed, while another "
                + "promise is pending. When that one settles, it must have no handler left to call: a "
                + "promise that lives long may have lost ten thousand races.",
            asking: "What withdraws the handler from a promise that has lost?",
            with: Answer.self, nothingIsLeft),
        .unwatched(
            "E09.18", "thousands of promises",
            "Of \(Bounds.many) promises, the last one in the list wins. None of the others has a "
                + "handler left.",
            asking: "Which of your lines limits how many there can be?",
            with: Answer.self, thousands),
        .scenario(
            "E09.10", "winner ∥ settle",
            "One thread starts a race between two promises that another thread fulfills, in their "
                + "order, and two that stay pending. The first one wins, and the race leaves nothing "
                + "behind, not even a handler on the two that are pending.",
            asking:
                "The race may be over before you have finished setting it up. Which line "
                + "cleans up what is created after that?",
            with: Answer.self, startedLate),
        .scenario(
            "E09.11", "the clock ∥ settle",
            "One thread advances the clock beyond the limit while another one fulfills the "
                + "promise. Either may be first, and no alarm is left.",
            asking:
                "The alarm goes off at the same moment as the value arrives. What has each "
                + "of the two already done, and what does it still assume?",
            with: Answer.self, timeIsUpWhileSettling),
        .scenario(
            "E09.12", "withTimeout ∥ settle",
            "One thread sets the limit while another one fulfills the promise. The value "
                + "arrives in time, and no alarm is left.",
            asking:
                "At which line is there an alarm to cancel? What if the promise settles in "
                + "the line before?",
            with: Answer.self
        ) { scenario, answer in
            let clock = ManualClock()
            let (promise, resolver) = AWPromise<Int>.pending()
            let ear = Ear()
            scenario.thread("waiter") {
                ear.listen(to: answer.inTime(promise, .seconds(1), clock))
            }
            scenario.thread("fulfiller") { resolver.fulfill(1) }
            scenario.check {
                try ear.expect("fulfilled 1")
                try expectNoAlarm(clock)
            }
            scenario.state("alarms") { "\(clock.waiting)" }
        },
        .scenario(
            "E09.13", "withTimeout ∥ the clock",
            "One thread sets the limit while another one advances the clock. When the time "
                + "is up, nothing may be left behind, no alarm and no handler, although the "
                + "promise is still pending.",
            asking:
                "The alarm may go off before you have finished setting up. What does it "
                + "find by then, and which line cleans up the rest?",
            with: Answer.self, timeIsUpWhileSettingUp),
        .scenario(
            "E09.19", "an observer of an error that waits",
            "One thread advances the clock beyond the limit while another one rejects the "
                + "promise. An observer of the outcome waits until the thread that was too late "
                + "has finished.",
            asking:
                "On which paths does an error reach the outcome, and what is held on each of "
                + "them?",
            with: Answer.self, observerOfAnErrorWaits),
        .oneThread(
            "E09.17", "no cycle remains",
            "No promise of a race ever settles, and nothing can settle it any more. When the "
                + "last reference to all of them is released, they must be freed, and so must the "
                + "outcome.",
            asking:
                "Draw an arrow from each promise to its handlers, and from each handler to what it "
                + "captured. Which arrow closes a cycle while the outcome is pending?",
            with: Answer.self, noCycleRemains),
        .independence(
            "E09.15", "two races, two threads",
            "Two threads each run their own race, and set a limit on their own clock. "
                + "Neither may wait for the other.",
            asking: "How many locks are there for a thousand races?",
            with: Answer.self,
            first: { useAlone($0, 1) }, second: { useAlone($0, 2) }),
    ]

    // MARK: One thread

    private static func oneWins(_ answer: Answer) throws {
        for count in [1, 2, 3, 9] {
            for first in 0..<count {
                let value = 10 * count + first
                let ends: [Result<Int, any Error>] = [
                    .success(value), .failure(Sent("error \(value)")),
                ]
                for end in ends {
                    let parts = (0..<count).map { _ in AWPromise<Int>.pending() }
                    let ear = Ear(on: answer.first(of: parts.map(\.promise)))
                    try ear.expectNothing("while all are pending")
                    parts[first].resolver.settle(end)
                    try ear.expect(Ear.words(end), "after the first")
                    for part in parts { part.resolver.settle(.success(-1)) }
                    try ear.expect(Ear.words(end), "after all")
                }
            }
        }
    }

    private static func settledBefore(_ answer: Answer) throws {
        let (pending, resolver) = AWPromise<String>.pending()
        let one = AWPromise.fulfilled("one")
        let no = AWPromise<String>.rejected(Sent("no"))
        for (list, end) in [
            ([one, no, pending], "fulfilled one"), ([pending, no, one], "rejected 'no'"),
            ([no, one], "rejected 'no'"), ([pending, one, one], "fulfilled one"),
        ] {
            try Ear(on: answer.first(of: list)).expect(end, "at once")
        }
        try Ear(on: answer.first(of: [AWPromise<Int?>.fulfilled(nil)]))
            .expect("fulfilled nil", "at once")
        try Ear(on: answer.first(of: [AWPromise<Int>]()))
            .expect("rejected \(OperatorError.noPromises)", "at once")
        let ear = Ear(on: answer.first(of: [pending, pending]))
        try ear.expectNothing("while both places are pending")
        resolver.fulfill("late")
        try ear.expect("fulfilled late", "after the first")
    }

    private static let ends: [Result<Int, any Error>] = [.success(1), .failure(Sent("no"))]

    private static func inTime(_ answer: Answer) throws {
        for limit in Bounds.durations {
            for end in ends {
                let clock = ManualClock()
                let (promise, resolver) = AWPromise<Int>.pending()
                // A pending promise may be too late for a limit of zero.
                if limit > .zero {
                    let ear = Ear(on: answer.inTime(promise, limit, clock))
                    let longer = answer.inTime(promise, limit + .seconds(1), clock)
                    if clock.waiting == 0 {
                        throw Fault("lost", "no call is scheduled on the clock for the limit")
                    }
                    clock.advance(by: limit - .nanoseconds(1))
                    try ear.expectNothing("before the promise is settled")
                    resolver.settle(end)
                    try ear.expect(Ear.words(end), "within \(limit)")
                    try expectNoAlarm(clock)
                    withExtendedLifetime(longer) {}
                    clock.advance(by: limit)
                    try ear.expect(Ear.words(end), "after its time")
                }
                resolver.settle(end)
                try Ear(on: answer.inTime(promise, limit, clock))
                    .expect(Ear.words(end), "with a limit of \(limit), settled before the call,")
                try expectNoAlarm(clock)
            }
        }
    }

    private static func tooLate(_ answer: Answer) throws {
        for limit in Bounds.durations {
            let clock = ManualClock()
            clock.advance(by: limit)
            let (promise, resolver) = AWPromise<Int>.pending()
            let ear = Ear(on: answer.inTime(promise, limit, clock))
            if limit > .zero {
                clock.advance(by: limit - .nanoseconds(1))
                try ear.expectNothing("before the limit of \(limit)")
            }
            clock.advance(by: .nanoseconds(1))
            try ear.expect("rejected \(OperatorError.timedOut)", "at the limit of \(limit)")
            resolver.fulfill(1)
            try ear.expect("rejected \(OperatorError.timedOut)", "after the limit of \(limit)")
        }
    }

    private static func thousands(_ answer: Answer) throws {
        let parts = (0..<Bounds.many).map { _ in AWPromise<Int>.pending() }
        let ear = Ear(on: answer.first(of: parts.map(\.promise)))
        parts.last!.resolver.fulfill(1)
        try ear.expect("fulfilled 1", "after the last of \(parts.count)")
        for part in parts {
            try expectNoHandler(part.promise, "the race is over, and a promise that has lost")
        }
    }

    private static func loserIsLetGo(_ answer: Answer) throws {
        let clock = ManualClock()
        let slow = (promise: AWPromise<Int>.pending(), another: AWPromise<Int>.pending())
        weak var race: AWPromise<Int>?
        weak var limited: AWPromise<Int>?
        weak var first: AWPromise<Int>?
        do {
            let fast = AWPromise<Int>.pending()
            first = fast.promise
            let decided = answer.first(of: [
                slow.promise.promise, fast.promise, slow.another.promise,
            ])
            fast.resolver.fulfill(1)
            race = decided
            let late = answer.inTime(slow.promise.promise, .seconds(1), clock)
            clock.advance(by: .seconds(1))
            limited = late
        }
        try expectGone(race, "a promise that has lost keeps the outcome of the race alive")
        try expectGone(first, "a promise that has lost keeps the winner alive")
        try expectGone(
            limited, "a promise that was too late keeps the outcome with the limit alive")
        do {
            let settled = AWPromise.fulfilled(1)
            let decided = answer.first(of: [settled, slow.promise.promise])
            race = decided
        }
        try expectGone(
            race, "a promise that took part after the race was over keeps the outcome alive")
        withExtendedLifetime(slow) {}
    }

    /// A pending promise that has no resolver, so that it is never abandoned either.
    private static func unsettled() -> AWPromise<Int> {
        AWPromise.fulfilled(1).then(on: DroppingDispatcher()) { $0 }
    }

    private static func noCycleRemains(_ answer: Answer) throws {
        weak var contestant: AWPromise<Int>?
        weak var outcome: AWPromise<Int>?
        do {
            let (one, other) = (unsettled(), unsettled())
            contestant = one
            outcome = answer.first(of: [one, other, one])
        }
        try expectGone(contestant, "no reference remains, and a promise of the race is not freed")
        try expectGone(outcome, "no reference remains, and the outcome of the race is not freed")
    }

    private static func settledInside(_ answer: Answer) throws {
        let parts = (0..<3).map { _ in AWPromise<Int>.pending() }
        let race = answer.first(of: parts.map(\.promise))
        let ear = Ear(on: race)
        race.observe(on: ImmediateDispatcher()) { _ in
            for part in parts { part.resolver.settle(.success(9)) }
        }
        parts[1].resolver.reject(Sent("no"))
        try ear.expect("rejected 'no'")
        let clock = ManualClock()
        let (promise, resolver) = AWPromise<Int>.pending()
        let limited = answer.inTime(promise, .seconds(1), clock)
        limited.observe(on: ImmediateDispatcher()) { _ in
            clock.advance(by: .seconds(5))
            resolver.settle(.success(9))
        }
        let last = Ear(on: limited)
        resolver.settle(.success(1))
        try last.expect("fulfilled 1")
    }

    private static func expectNoAlarm(_ clock: ManualClock) throws {
        if clock.waiting > 0 {
            throw Fault(
                "kept alive", "the outcome is settled, and an alarm is still scheduled on the clock"
            )
        }
    }

    private static func expectNoHandler(_ promise: AWPromise<Int>, _ what: String) throws {
        if HandlerOfAnAnswer.count(on: promise) > 0 {
            throw Fault("left behind", "\(what) still has a handler to call")
        }
    }

    /// A promise with a handler to call takes more steps to settle than one without.
    private static func nothingIsLeft(_ answer: Answer) throws {
        typealias Race = (who: String, run: (AWPromise<Int>) -> Void)
        var races = ends.flatMap { end in
            (0...3).flatMap { place in
                [false, true].map { isLate -> Race in
                    let who =
                        isLate ? "took part in a race that was already" : "has lost a race that was"
                    return (
                        "\(who) \(Ear.words(end))",
                        { slow in
                            let fast = AWPromise<Int>.pending()
                            var list = [slow, slow, slow]
                            list.insert(fast.promise, at: place)
                            if isLate { fast.resolver.settle(end) }
                            let race = answer.first(of: list)
                            fast.resolver.settle(end)
                            withExtendedLifetime(race) {}
                        }
                    )
                }
            }
        }
        races.append(
            (
                "was too late for a limit",
                { slow in
                    let clock = ManualClock()
                    let limited = answer.inTime(slow, .seconds(1), clock)
                    clock.advance(by: .seconds(1))
                    withExtendedLifetime(limited) {}
                }
            ))
        let untouched = stepsOfSettling { _ in }
        for race in races where stepsOfSettling(after: race.run) != untouched {
            throw Fault(
                "left behind", "a promise that \(race.who) settles, and still has a handler to call"
            )
        }
    }

    private static func stepsOfSettling(after race: @escaping (AWPromise<Int>) -> Void) -> Int? {
        let exploration = explore(options: Exploration.Options()) { scenario in
            let slow = AWPromise<Int>.pending()
            race(slow.promise)
            scenario.thread("settler") { slow.resolver.fulfill(1) }
        }
        return exploration.passingSchedule?.choices.count
    }

    // MARK: Several threads

    private static func twoRacers(_ scenario: Scenario, _ answer: Answer) {
        let (first, second) = (AWPromise<Int>.pending(), AWPromise<Int>.pending())
        let race = answer.first(of: [first.promise, second.promise])
        scenario.thread("fulfiller") { first.resolver.fulfill(1) }
        scenario.thread("rejecter") { second.resolver.reject(Sent("no")) }
        scenario.expectOneEnd(
            Ear(on: race),
            ["fulfilled 1": "the fulfiller was first", "rejected 'no'": "the rejecter was first"])
        scenario.state("race") { Ear.words(race.result) }
    }

    private static func startedLate(_ scenario: Scenario, _ answer: Answer) {
        let (slow, fast) = (AWPromise<Int>.pending(), AWPromise<Int>.pending())
        let (slower, second) = (AWPromise<Int>.pending(), AWPromise<Int>.pending())
        let ear = Ear()
        let race = WeakPromise()
        scenario.thread("starter") {
            let promise = answer.first(
                of: [slow, fast, second, slower].map(\.promise))
            ear.listen(to: promise)
            race.promise = promise
        }
        scenario.thread("fulfiller") {
            fast.resolver.fulfill(1)
            second.resolver.fulfill(2)
        }
        scenario.check {
            try ear.expect("fulfilled 1")
            try expectGone(
                race.promise,
                "the promise that has lost keeps the outcome of the race alive")
            for loser in [slow, slower] {
                try expectNoHandler(loser.promise, "the race is over, and a promise that has lost")
            }
            withExtendedLifetime((slow, slower)) {}
        }
    }

    /// Set by one thread, and read after its end.
    private final class WeakPromise: @unchecked Sendable {
        weak var promise: AWPromise<Int>?
    }

    private static func timeIsUpWhileSettling(_ scenario: Scenario, _ answer: Answer) {
        let clock = ManualClock()
        let (promise, resolver) = AWPromise<Int>.pending()
        let limited = answer.inTime(promise, .seconds(1), clock)
        scenario.thread("time") { clock.advance(by: .seconds(1)) }
        scenario.thread("fulfiller") { resolver.fulfill(1) }
        scenario.check { try expectNoAlarm(clock) }
        scenario.expectOneEnd(
            Ear(on: limited),
            [
                "fulfilled 1": "the value arrived in time",
                "rejected \(OperatorError.timedOut)": "the time was up",
            ])
        scenario.state("limited") { Ear.words(limited.result) }
    }

    private static func timeIsUpWhileSettingUp(_ scenario: Scenario, _ answer: Answer) {
        let clock = ManualClock()
        let slow = AWPromise<Int>.pending()
        let ear = Ear()
        let limited = WeakPromise()
        scenario.thread("waiter") {
            let promise = answer.inTime(slow.promise, .seconds(1), clock)
            ear.listen(to: promise)
            limited.promise = promise
        }
        scenario.thread("time") { clock.advance(by: .seconds(1)) }
        scenario.check {
            clock.advance(by: .seconds(1))
            try ear.expect("rejected \(OperatorError.timedOut)", "when the time is up")
            try expectNoAlarm(clock)
            try expectGone(
                limited.promise,
                "a promise that was too late keeps the outcome with the limit alive")
            try expectNoHandler(slow.promise, "the time is up, and the pending promise")
            withExtendedLifetime(slow) {}
        }
        scenario.state("alarms") { "\(clock.waiting)" }
    }

    private static func observerOfAnErrorWaits(_ scenario: Scenario, _ answer: Answer) {
        let clock = ManualClock()
        let (promise, resolver) = AWPromise<Int>.pending()
        let limited = answer.inTime(promise, .seconds(1), clock)
        let (timeIsUp, hasRejected) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        limited.observe(on: ImmediateDispatcher()) { outcome in
            if case .failure(is Sent) = outcome { timeIsUp.wait() } else { hasRejected.wait() }
        }
        scenario.thread("time") {
            clock.advance(by: .seconds(1))
            timeIsUp.signal()
        }
        scenario.thread("rejecter") {
            resolver.reject(Sent("no"))
            hasRejected.signal()
        }
        scenario.state("limited") { Ear.words(limited.result) }
    }

    private static func useAlone(_ answer: Answer, _ value: Int) {
        let parts = (0..<2).map { _ in AWPromise<Int>.pending() }
        let clock = ManualClock()
        let limited = answer.inTime(
            answer.first(of: parts.map(\.promise)), .seconds(1), clock)
        for part in parts { part.resolver.settle(.success(value)) }
        _ = limited.result
        _ = answer.inTime(AWPromise<Int>.pending().promise, .seconds(1), clock)
        clock.advance(by: .seconds(2))
        _ = answer.first(of: [AWPromise<Int>]()).result
    }
}
