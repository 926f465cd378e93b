import PromiseOperators
import RaceLab
import SharedSuite

extension Exercise {
    static let again = Exercise(
        10, "Again", chapter: 6, adapter: "Retry", "MainQueue",
        hints: [
            "One function that makes attempt n, and one that is told how attempt n has ended and "
                + "decides what comes next, are all the parts there are. What does each of them "
                + "need to know?",
            "The three ways in which an attempt is the last (it was fulfilled, its number, the "
                + "error) have one thing in common: the outcome of the attempt is the outcome of "
                + "the whole.",
            "If the observer of a settled promise starts the next attempt, it does so from inside "
                + "of the call that observes, which is inside of the attempt before. Whoever "
                + "begins the next attempt has to have returned from the last one: a clock does "
                + "that for you, and a loop does.",
            "A loop needs no deeper stack, but it cannot wait. Which attempts can it go through, "
                + "and who takes over at one that it cannot? For each attempt it has to be "
                + "exactly one of the two, whatever happens in between.",
        ],
        afterword:
            "To go through the clock each time, even for a delay of zero, is the simplest: a clock "
            + "never calls inside of `schedule`. A loop over what is settled already does "
            + "without, and so does a small machine behind a lock that says who of several is to "
            + "go on. PromiseOperators has the first: Retry.swift.",
        forbidden: SourceRules.sentAway + SourceRules.finished("retry")
            + SourceRules.clockOfTheTests,
        requirements: RetryRequirements.all)
}

private enum RetryRequirements {
    typealias Answer = any RetryAnswer

    static let all: [Requirement] = [
        .oneThread(
            "E10.1", "no attempt after success",
            "The first attempt is fulfilled, or one after some failures. The whole has to be "
                + "fulfilled with that value, and nothing is attempted any more, however late it "
                + "gets.",
            asking: "Who could still begin an attempt when one has been fulfilled?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try successes(answer) } },
        .oneThread(
            "E10.2", "as many attempts as allowed",
            "All attempts fail, some at once and some later. There have to be exactly as many as "
                + "allowed, but one at least, and the error of the last one is told.",
            asking:
                "With a single attempt allowed, or with none, which comparisons are made, when, "
                + "and what do they say?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try failures(answer) } },
        .oneThread(
            "E10.3", "after the delay",
            "Before each further attempt the delay for the failed one has to pass, from its "
                + "failure on: not a millisecond less, and not more, whether it fails at once or "
                + "later.",
            asking: "Which number is handed to `delay`, and when does the clock begin to count?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try delays(answer) } },
        .oneThread(
            "E10.4", "errors that are not worth it",
            "Attempts fail, the third with an error for which `isWorthwhile` is false. There is no "
                + "fourth, and this error is told at once.",
            asking: "What is known after a failure, and which of it decides whether to go on?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try notWorthwhile(answer) } },
        .oneThread(
            "E10.5", "work that throws",
            "Some attempts throw instead of returning a promise. That is a failure like any other: "
                + "its delay passes, and `isWorthwhile` is asked.",
            asking: "In which two ways does work say that it has failed, and where do they meet?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try throwing(answer) } },
        .unwatched(
            "E10.6", "ten thousand failures at once",
            "Work fails before it returns, ten thousand times, with no delay and with one, by what it "
                + "returns and by throwing. It must not need a deeper stack than one failure does. "
                + "(This one runs on a small stack.)",
            asking: "When the second attempt begins, which calls have not returned yet?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try manyFailures(answer) } },
        .oneThread(
            "E10.7", "nothing is kept",
            "It is over, and its promise lives on. What the work, the delay and the condition have "
                + "captured must be freed.",
            asking:
                "Which closure holds itself, by way of a variable or an object that it captured?",
            with: Answer.self
        ) { answer in try withoutMainQueue { try nothingIsKept(answer) } },
        .scenario(
            "E10.8", "withRetries ∥ reject",
            "One thread begins while another one rejects the promise of the first attempt. The "
                + "second one is fulfilled.",
            asking:
                "You look at a promise and find it pending. What may be true of it in the next "
                + "line, and how many of your lines notice?",
            with: Answer.self
        ) { scenario, answer in
            let bench = Bench(scenario)
            let first = AWPromise<Int>.pending()
            scenario.thread("caller") {
                bench.begin(answer, 3) { $0 == 1 ? first.promise : .fulfilled(10 * $0) }
            }
            scenario.thread("failer") { bench.reject(first.resolver) }
            scenario.check { try bench.expect(started: [1, 2], "fulfilled 20") }
        },
        .scenario(
            "E10.9", "the clock ∥ reject",
            "One thread turns the clock while another one rejects the promise of the first "
                + "attempt. The second begins when its delay has passed, once.",
            asking: "What does the clock call, and what has been decided before it is asked to?",
            with: Answer.self
        ) { scenario, answer in
            let bench = Bench(scenario, delay: .seconds(1))
            let first = AWPromise<Int>.pending()
            bench.begin(answer, 2) { $0 == 1 ? first.promise : .fulfilled(10 * $0) }
            scenario.thread("time") { bench.clock.advance(by: .seconds(1)) }
            scenario.thread("failer") { first.resolver.reject(Sent("no")) }
            scenario.check { try bench.expect(started: [1, 2], "fulfilled 20") }
        },
        .independence(
            "E10.10", "two retries, two threads",
            "Two threads try again and again, each with work and a clock of its own. Neither "
                + "should have to wait for the other.",
            asking: "How many locks are there when a thousand things are being tried?",
            with: Answer.self,
            first: { useAlone($0, 1) }, second: { useAlone($0, 2) }),
    ]

    /// Work whose attempts are written down.
    private final class Bench: Sendable {
        let clock = ManualClock()
        let started = Log<Int>()
        let ear = Ear()
        let delay: Duration

        init(_ scenario: Scenario? = nil, delay: Duration = .zero) {
            self.delay = delay
            scenario?.state("attempts") { [started] in "\(started.entries)" }
        }

        func begin(
            _ answer: Answer, _ attempts: Int,
            delay: (@Sendable (Int) -> Duration)? = nil,
            while isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true },
            _ work: @escaping @Sendable (Int) throws -> AWPromise<Int>
        ) {
            let usual = self.delay
            let promise = answer.again(
                attempts, clock, delay: delay ?? { _ in usual }, while: isWorthwhile
            ) { [started] number in
                started.append(number, "attempt \(number) begins")
                return try work(number)
            }
            ear.listen(to: promise)
        }

        /// Lets an attempt fail, and turns the clock for those who go through it without a delay.
        func reject(_ resolver: Resolver<Int>) {
            resolver.settle(.failure(Sent("no")))
            clock.advance(by: .zero)
        }

        /// Gives it all the time that it could want.
        func finish() throws {
            for _ in 0..<5 { clock.advance(by: delay) }
            try ear.expectOnce()
        }

        func expect(started numbers: [Int], _ end: String, _ when: String = "in the end") throws {
            try finish()
            try expectStarted(numbers, when)
            try ear.expect(end, when)
            if clock.waiting > 0 {
                throw Fault("kept alive", "it is over, and a call is still waiting on the clock")
            }
        }

        /// The next attempt begins when the delay has passed since now, and not before.
        func expectNext(after number: Int, _ delay: Duration) throws {
            clock.advance(by: delay - .milliseconds(1))
            guard started.entries.count <= number else {
                throw Fault(
                    "too early", "attempt \(number + 1) has begun before its delay has passed")
            }
            clock.advance(by: .milliseconds(1))
            guard started.entries.count == number + 1 else {
                throw Fault(
                    "too late", "the delay has passed, and attempt \(number + 1) has not begun")
            }
        }

        func expectStarted(_ numbers: [Int], _ when: String) throws {
            let all = started.entries
            guard all != numbers else { return }
            let reason =
                if Set(all).count < all.count {
                    "twice"
                } else if all.count > numbers.count {
                    "too many"
                } else if all.count < numbers.count {
                    "too few"
                } else {
                    "wrong number"
                }
            throw Fault(reason, "\(when) the attempts are \(all); they should be \(numbers)")
        }
    }

    // MARK: One thread

    private static func successes(_ answer: Answer) throws {
        for (attempts, successful) in [(1, 1), (3, 1), (3, 2), (3, 3), (6, 4)] {
            let bench = Bench(delay: .seconds(1))
            bench.begin(answer, attempts) { number in
                number < successful ? .rejected(Sent("no")) : .fulfilled(100 * number)
            }
            for _ in 1..<max(2, successful) { bench.clock.advance(by: .seconds(1)) }
            bench.clock.advance(by: .seconds(100))
            try bench.expect(started: Array(1...successful), "fulfilled \(100 * successful)")
        }
    }

    private static func failures(_ answer: Answer) throws {
        for attempts in [1, 2, 5] {
            let bench = Bench()
            let late = (0..<attempts).map { _ in AWPromise<Int>.pending() }
            bench.begin(answer, attempts) { number in
                number % 2 == 0 ? .rejected(Sent("error \(number)")) : late[number - 1].promise
            }
            for number in stride(from: 1, through: attempts, by: 2) {
                bench.clock.advance(by: .zero)
                try bench.expectStarted(Array(1...number), "when attempt \(number) has begun")
                try bench.ear.expectNothing("while an attempt is pending")
                late[number - 1].resolver.reject(Sent("error \(number)"))
            }
            try bench.expect(
                started: Array(1...attempts), "rejected 'error \(attempts)'", "after all attempts")
        }
        for attempts in [0, -1, .min] {
            let bench = Bench()
            bench.begin(answer, attempts) { _ in .rejected(Sent("only")) }
            try bench.expect(
                started: [1], "rejected 'only'", "with \(attempts) attempts in the end")
        }
    }

    /// Whoever asks for one too many does no harm by that.
    private static func pause(_ table: [Int]) -> @Sendable (Int) -> Duration {
        { number in
            table.indices.contains(number - 1) ? Duration.seconds(table[number - 1]) : .zero
        }
    }

    private static let tables = [[3, 1, 7], [5], [2, 20, 1, 4]]

    private static func delays(_ answer: Answer) throws {
        for table in tables {
            try failLater(answer, table)
            try failAtOnce(answer, table) { .rejected(Sent("no \($0)")) }
        }
    }

    private static func failLater(_ answer: Answer, _ table: [Int]) throws {
        let bench = Bench()
        let works = (0...table.count).map { _ in AWPromise<Int>.pending() }
        bench.begin(answer, table.count + 1, delay: pause(table)) { number in
            works[number - 1].promise
        }
        for (index, delay) in table.enumerated() {
            bench.clock.advance(by: .seconds(2))
            works[index].resolver.reject(Sent("no"))
            try bench.expectNext(after: index + 1, .seconds(delay))
        }
        works[table.count].resolver.fulfill(1)
        try bench.expect(started: Array(1...table.count + 1), "fulfilled 1")
    }

    /// The work fails before it returns: it returns a promise that is rejected, or throws.
    private static func failAtOnce(
        _ answer: Answer, _ table: [Int],
        _ fail: @escaping @Sendable (Int) throws -> AWPromise<Int>
    ) throws {
        let bench = Bench()
        bench.begin(answer, table.count + 1, delay: pause(table), fail)
        for (index, delay) in table.enumerated() {
            try bench.expectNext(after: index + 1, .seconds(delay))
        }
        let count = table.count + 1
        try bench.expect(started: Array(1...count), "rejected 'no \(count)'")
    }

    private static func notWorthwhile(_ answer: Answer) throws {
        try giveUp(answer) { .rejected(Sent($0)) }
    }

    /// The third error is not worth another attempt, or the first is not.
    private static func giveUp(
        _ answer: Answer, _ fail: @escaping @Sendable (String) throws -> AWPromise<Int>
    ) throws {
        let bench = Bench(delay: .seconds(1))
        bench.begin(
            answer, 10, while: { ($0 as? Sent)?.name != "hopeless" },
            { try fail($0 == 3 ? "hopeless" : "no") })
        bench.clock.advance(by: .seconds(2))
        try bench.ear.expect("rejected 'hopeless'", "after the third attempt")
        bench.clock.advance(by: .seconds(100))
        try bench.expect(started: [1, 2, 3], "rejected 'hopeless'", "long after")
        let never = Bench()
        never.begin(answer, 2, while: { _ in false }, { _ in try fail("first") })
        try never.expect(started: [1], "rejected 'first'")
    }

    private static func throwing(_ answer: Answer) throws {
        let bench = Bench()
        bench.begin(answer, 4) { number in
            if number < 3 { throw Sent("thrown") }
            return .fulfilled(number)
        }
        try bench.expect(started: [1, 2, 3], "fulfilled 3")
        let last = Bench()
        last.begin(answer, 2) { number in throw Sent("thrown \(number)") }
        try last.expect(started: [1, 2], "rejected 'thrown 2'")
        for table in tables {
            try failAtOnce(answer, table) { throw Sent("no \($0)") }
            try failAtOnce(answer, table) { number in
                if number % 2 == 0 { throw Sent("no \(number)") }
                return .rejected(Sent("no \(number)"))
            }
        }
        try giveUp(answer) { throw Sent($0) }
    }

    private static func manyFailures(_ answer: Answer) throws {
        let returned = { @Sendable (number: Int) in AWPromise<Int>.rejected(Sent("no")) }
        let thrown = { @Sendable (number: Int) throws -> AWPromise<Int> in throw Sent("no") }
        let both = { @Sendable (number: Int) throws -> AWPromise<Int> in
            number % 2 == 0 ? try thrown(number) : returned(number)
        }
        let none = { @Sendable (number: Int) in Duration.zero }
        let always = { @Sendable (number: Int) in Duration.milliseconds(1) }
        let growing = { @Sendable (number: Int) in Duration.milliseconds(number % 3) }
        for delay in [none, always] {
            for fail in [returned, thrown] { try failManyTimes(answer, delay, fail) }
        }
        for delay in [none, growing] { try failManyTimes(answer, delay, both) }
    }

    private static func failManyTimes(
        _ answer: Answer, _ delay: @escaping @Sendable (Int) -> Duration,
        _ fail: @escaping @Sendable (Int) throws -> AWPromise<Int>
    ) throws {
        let many = 10_000
        let bench = Bench()
        bench.begin(answer, many, delay: delay, fail)
        bench.clock.advance(by: .milliseconds(3 * many))
        try bench.expect(started: Array(1...many), "rejected 'no'")
    }

    private static func nothingIsKept(_ answer: Answer) throws {
        for successful in [1, 2, 9] {
            weak var captured: Captured?
            let clock = ManualClock()
            var promise: AWPromise<Int>?
            do {
                let object = Captured()
                captured = object
                promise = answer.again(
                    3, clock, delay: { _ in withExtendedLifetime(object) { .zero } },
                    while: { _ in withExtendedLifetime(object) { true } },
                    { number in
                        withExtendedLifetime(object) {
                            number < successful ? .rejected(Sent("no")) : .fulfilled(1)
                        }
                    })
            }
            clock.advance(by: .zero)
            if promise?.result == nil { throw Fault("silence", "in the end it is pending") }
            try expectGone(captured, "it is over, and keeps alive what the work has captured")
        }
    }

    // MARK: Several threads

    private static func useAlone(_ answer: Answer, _ value: Int) {
        let bench = Bench()
        let first = AWPromise<Int>.pending()
        bench.begin(answer, 4) { number in
            if number == 2 { throw Sent("no") }
            return number == 1 ? first.promise : .fulfilled(value)
        }
        first.resolver.reject(Sent("no"))
        bench.clock.advance(by: .zero)
    }
}
