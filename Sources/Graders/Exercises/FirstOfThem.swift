import Dispatch
import PromiseOperators
import RaceLab
import SharedSuite
import Synchronization

extension Exercise {
    static let firstOfThem = Exercise(
        9, "The first of them", chapter: 6, adapter: "Race", "MainQueue",
        hints: [
            "Who is first need not be found out: all of them may try to settle the same promise, "
                + "and it listens to one. `settle` is for those who reckon with coming second.",
            "A time-out is a race like the other, between the promise and an alarm. Either may "
                + "win, and either has something to be cleared away when it loses.",
            "What has to be cleared away is known only after it has been made, and by then the "
                + "race may be over. Who can tell that a race is over, to somebody who comes late "
                + "as well as to somebody who comes early?",
            "There is one thing that is settled exactly when the race is over, and that tells "
                + "whoever asks, early or late. How many may ask?",
        ],
        afterword:
            "To observe the outcome once for each contestant, and withdraw there, is the shortest: "
            + "a promise calls late observers too. A list of what is to be cleared away, behind a "
            + "lock together with the word that it is over, says the same by hand. A box that holds "
            + "the resolver, shared by all handlers and emptied by the winner, keeps nothing of the "
            + "race alive; its handlers have to be withdrawn all the same. "
            + "PromiseOperators has the first: Follow.swift.",
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
            "Each promise of a list is the first in turn, once with a value and once with an "
                + "error. The others follow, and change nothing.",
            asking: "What do you hear of a promise that is rejected, and where do you hear it?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try oneWins(answer) } },
        .oneThread(
            "E09.2", "settled before",
            "Promises of the list are settled already. The first of those wins, at once.",
            asking:
                "In which order do you come by the promises, and what happens at the first that is "
                + "settled?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try settledBefore(answer) } },
        .oneThread(
            "E09.3", "an empty list",
            "Nobody takes part. It has to be rejected with noPromises, at once.",
            asking: "Which of your lines runs if there is nobody to observe?",
            with: Answer.self
        ) { answer in
            try withoutMainQueue {
                let ear = Ear(on: answer.first(of: [AWPromise<Int>]()))
                try ear.expect("rejected \(OperatorError.noPromises)", "at once")
            }
        },
        .oneThread(
            "E09.4", "within the limit",
            "A promise is settled before its time is up, with a value or an error, or was before. "
                + "That has to be passed on at once.",
            asking: "When the promise ends, who passes that on, and in both cases?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try inTime(answer) } },
        .oneThread(
            "E09.5", "after the limit",
            "The time is up: not a millisecond before the limit, and not later. The promise is "
                + "settled afterwards, and that changes nothing.",
            asking: "What does the clock call, when, and what does it do then?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try tooLate(answer) } },
        .oneThread(
            "E09.6", "no alarm is left",
            "A promise with two time limits is settled, this way and that. Then no call may be "
                + "waiting on the clock.",
            asking:
                "Which ways are there for it to be over before the alarm goes off, and which of "
                + "them lead past the line that cancels it?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try noAlarmIsLeft(answer) } },
        .oneThread(
            "E09.7", "the loser is let go",
            "A race is over, while another of its promises is pending and lives on. The promise "
                + "that was handed out is dropped, and must be freed; and so must the one that has "
                + "won.",
            asking: "What does the handler hold that still waits on the promise that has lost?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try loserIsLetGo(answer) } },
        .oneThread(
            "E09.8", "settled inside",
            "An observer of the outcome settles the others that took part, and turns the clock.",
            asking:
                "Who is told inside of the call that decides it, and what do you hold meanwhile?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try settledInside(answer) } },
        .scenario(
            "E09.9", "fulfil ∥ reject",
            "Two threads settle a promise of the list each, in two ways. Either may be the first.",
            asking: "Both threads believe they have won. Who tells one of them that he has not?",
            with: Answer.self, twoRacers),
        .scenario(
            "E09.10", "winner ∥ settle",
            "One thread starts a race between a promise that never ends and one that another "
                + "thread fulfils. It is fulfilled, and afterwards nothing is left of it.",
            asking:
                "The race may be over before you have finished setting it up. Who clears away what "
                + "is made after that?",
            with: Answer.self, startedLate),
        .scenario(
            "E09.11", "the clock ∥ settle",
            "One thread turns the clock beyond the limit while another one fulfils the promise. "
                + "Either may be the first, and no alarm is left.",
            asking:
                "The alarm goes off in the same moment as the value comes. What has each of the "
                + "two already done, and what does it still believe?",
            with: Answer.self, timeIsUpWhileSettling),
        .scenario(
            "E09.12", "withTimeout ∥ settle",
            "One thread sets the limit while another one fulfils the promise. The value comes in "
                + "time, and no alarm is left.",
            asking:
                "At which line is there an alarm to be cancelled? What if the promise is settled "
                + "in the line before?",
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
            "One thread sets the limit while another one turns the clock. When the time is up, "
                + "afterwards nothing is left of it, although the promise goes on.",
            asking:
                "The alarm may go off before you have finished setting up. What does it find by "
                + "then, and who clears away the rest?",
            with: Answer.self, timeIsUpWhileSettingUp),
        .scenario(
            "E09.14", "an observer that waits",
            "One thread decides a race, and an observer waits until another thread has settled the "
                + "other promise.",
            asking:
                "A lock that lets its own thread in again helps nobody else. Who else wants in "
                + "while an observer runs?",
            with: Answer.self, observerWaits),
        .judged(
            "E09.16", "nothing is left with the losers",
            "A race is over, or a limit has passed, while another promise is pending. When that one is "
                + "settled, it must have nobody to call: a promise that lives on may have lost ten "
                + "thousand times.",
            asking: "Who tells a promise that has lost that nobody waits for it any more?",
            with: Answer.self, { nothingIsLeft($0) }),
        .oneThread(
            "E09.17", "no cycle remains",
            "No promise of a race ever settles, and nothing can settle it any more. When the "
                + "last reference to all of them is released, they must be freed, and so must the "
                + "outcome.",
            asking:
                "Draw an arrow from each promise to its handlers, and from each handler to what it "
                + "captured. Which arrow closes a cycle while the outcome is pending?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try noCycleRemains(answer) } },
        .independence(
            "E09.15", "two races, two threads",
            "Two threads run a race each, and set a limit on a clock each. Neither should have to "
                + "wait for the other.",
            asking: "How many locks are there when there are a thousand races?",
            with: Answer.self,
            first: { useAlone($0, 1) }, second: { useAlone($0, 2) }),
    ]

    // MARK: One thread

    private static func oneWins(_ answer: Answer) throws {
        for count in 1...3 {
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
        let ear = Ear(on: answer.first(of: [pending, pending]))
        try ear.expectNothing("while both places are pending")
        resolver.fulfill("late")
        try ear.expect("fulfilled late", "after the first")
    }

    private static func inTime(_ answer: Answer) throws {
        for (limit, end) in [
            (1, Result<Int, any Error>.success(3)), (60, .success(4)), (5, .failure(Sent("no"))),
        ] {
            let clock = ManualClock()
            let (promise, resolver) = AWPromise<Int>.pending()
            let ear = Ear(on: answer.inTime(promise, .seconds(limit), clock))
            clock.advance(by: .seconds(limit) - .milliseconds(1))
            try ear.expectNothing("before the promise is settled")
            resolver.settle(end)
            try ear.expect(Ear.words(end), "in time")
            clock.advance(by: .seconds(limit))
            try ear.expect(Ear.words(end), "after its time")
            let again = answer.inTime(promise, .seconds(limit), clock)
            try Ear(on: again).expect(Ear.words(end), "as it was settled before")
        }
    }

    private static func tooLate(_ answer: Answer) throws {
        for limit in [1, 3, 60] {
            let clock = ManualClock()
            clock.advance(by: .seconds(limit))
            let (promise, resolver) = AWPromise<Int>.pending()
            let ear = Ear(on: answer.inTime(promise, .seconds(limit), clock))
            clock.advance(by: .seconds(limit) - .milliseconds(1))
            try ear.expectNothing("before the limit")
            clock.advance(by: .milliseconds(1))
            try ear.expect("rejected \(OperatorError.timedOut)", "at the limit")
            resolver.fulfill(1)
            try ear.expect("rejected \(OperatorError.timedOut)", "after the limit")
        }
    }

    private static func noAlarmIsLeft(_ answer: Answer) throws {
        let ends: [Result<Int, any Error>] = [.success(1), .failure(Sent("no"))]
        for end in ends {
            let clock = ManualClock()
            let (promise, resolver) = AWPromise<Int>.pending()
            let early = answer.inTime(promise, .seconds(2), clock)
            if clock.waiting == 0 {
                throw Fault("lost", "nothing waits for the limit on the clock")
            }
            let longer = answer.inTime(promise, .seconds(3), clock)
            resolver.settle(end)
            try expectNoAlarm(clock)
            let late = answer.inTime(promise, .seconds(2), clock)
            try expectNoAlarm(clock)
            withExtendedLifetime((early, longer, late)) {}
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
        try expectGone(first, "a promise that has lost keeps the one that has won alive")
        try expectGone(limited, "a promise that came too late keeps the one with the limit alive")
        do {
            let settled = AWPromise.fulfilled(1)
            let decided = answer.first(of: [settled, slow.promise.promise])
            race = decided
        }
        try expectGone(race, "a promise that took part when it was over keeps the outcome alive")
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
            throw Fault("kept alive", "it is over, and an alarm is still waiting on the clock")
        }
    }

    /// A promise that has to call somebody takes more steps to settle than one that has not.
    private static func nothingIsLeft(_ answer: Answer) -> Fault? {
        let untouched = stepsOfSettling { _ in }
        let races: [(who: String, (AWPromise<Int>) -> Void)] = [
            (
                "has lost a race",
                { slow in
                    let fast = AWPromise<Int>.pending()
                    let race = answer.first(of: [slow, fast.promise, slow])
                    fast.resolver.fulfill(1)
                    withExtendedLifetime(race) {}
                }
            ),
            (
                "took part in a race that was over",
                { slow in _ = answer.first(of: [.fulfilled(1), slow]) }
            ),
            (
                "came too late for a limit",
                { slow in
                    let clock = ManualClock()
                    let limited = answer.inTime(slow, .seconds(1), clock)
                    clock.advance(by: .seconds(1))
                    withExtendedLifetime(limited) {}
                }
            ),
        ]
        for (who, race) in races where stepsOfSettling(after: race) != untouched {
            return Fault(
                "left behind",
                "a promise that \(who) is settled, and still has a handler to call")
        }
        return nil
    }

    private static func stepsOfSettling(after race: @escaping (AWPromise<Int>) -> Void) -> Int? {
        let report = explore(options: Options()) { scenario in
            let slow = AWPromise<Int>.pending()
            race(slow.promise)
            scenario.thread("settler") { slow.resolver.fulfill(1) }
        }
        return report.surviving?.choices.count
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
        let ear = Ear()
        let race = Mutex<WeakPromise>(WeakPromise())
        scenario.thread("starter") {
            let promise = answer.first(of: [fast.promise, slow.promise])
            ear.listen(to: promise)
            race.withLock { $0.promise = promise }
        }
        scenario.thread("fulfiller") { fast.resolver.fulfill(1) }
        scenario.check {
            try ear.expect("fulfilled 1")
            try expectGone(
                race.withLock { $0.promise },
                "the promise that has lost keeps the outcome of the race alive")
            withExtendedLifetime(slow) {}
        }
    }

    private struct WeakPromise {
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
                "fulfilled 1": "the value came in time",
                "rejected \(OperatorError.timedOut)": "the time was up",
            ])
        scenario.state("limited") { Ear.words(limited.result) }
    }

    private static func timeIsUpWhileSettingUp(_ scenario: Scenario, _ answer: Answer) {
        let clock = ManualClock()
        let slow = AWPromise<Int>.pending()
        let ear = Ear()
        let limited = Mutex<WeakPromise>(WeakPromise())
        scenario.thread("waiter") {
            let promise = answer.inTime(slow.promise, .seconds(1), clock)
            ear.listen(to: promise)
            limited.withLock { $0.promise = promise }
        }
        scenario.thread("time") { clock.advance(by: .seconds(1)) }
        scenario.check {
            clock.advance(by: .seconds(1))
            try ear.expect("rejected \(OperatorError.timedOut)", "when the time is up")
            try expectNoAlarm(clock)
            try expectGone(
                limited.withLock { $0.promise },
                "a promise that came too late keeps the one with the limit alive")
            withExtendedLifetime(slow) {}
        }
        scenario.state("alarms") { "\(clock.waiting)" }
    }

    private static func observerWaits(_ scenario: Scenario, _ answer: Answer) {
        let (first, second) = (AWPromise<Int>.pending(), AWPromise<Int>.pending())
        let bell = DispatchSemaphore(value: 0)
        let race = answer.first(of: [first.promise, second.promise])
        race.observe(on: ImmediateDispatcher()) { outcome in
            if case .failure = outcome { bell.wait() }
        }
        scenario.thread("rejecter") { first.resolver.reject(Sent("no")) }
        scenario.thread("fulfiller") {
            second.resolver.fulfill(2)
            bell.signal()
        }
        scenario.state("race") { Ear.words(race.result) }
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
