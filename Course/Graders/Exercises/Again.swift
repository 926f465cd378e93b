import PromiseOperators
import RaceLab
import SharedSuite

extension Exercise {
    static let again = Exercise(
        10, "Again", chapter: 8, adapter: "Retry", "MainQueue",
        hints: [
            "Two functions are enough: one that starts attempt n, and one that receives the "
                + "outcome of attempt n and decides what comes next. What does each of them need "
                + "to know?",
            "An attempt is the last one for one of three reasons: it was fulfilled, its "
                + "number, its error. In all three cases, the outcome of the attempt is the "
                + "outcome of the promise that you returned.",
            "If the observer of a settled promise starts the next attempt, that attempt "
                + "runs inside the call of `observe`, which runs inside the previous attempt. The "
                + "next attempt has to begin after the previous one has returned: a clock does "
                + "that for you, and so does a loop.",
            "A loop needs no deeper stack, but it cannot wait. Which attempts can the loop "
                + "handle, and what starts the next attempt when it cannot? For each attempt it "
                + "must be exactly one of the two, in every interleaving.",
        ],
        afterword:
            "The simplest solution uses the clock for each attempt, even for a delay of "
            + "zero: a clock never calls a function inside `schedule`. A loop over attempts "
            + "that are already settled works without a clock, and so does a small state "
            + "machine behind a lock that decides which of several calls continues. "
            + "PromiseOperators uses the clock: Retry.swift.",
        forbidden: SourceRules.sentAway + SourceRules.finished("retry")
            + SourceRules.clockOfTheTests,
        requirements: RetryRequirements.all)
}

private enum RetryRequirements {
    typealias Answer = any RetryAnswer

    static let all: [Requirement] = [
        .oneThread(
            "E10.1", "no attempt after success",
            "The first attempt is fulfilled, or a later one after some failures. The "
                + "promise must be fulfilled with that value, and no attempt may follow, however "
                + "much time passes.",
            asking: "Which line could still start an attempt after one has been fulfilled?",
            with: Answer.self, successes),
        .oneThread(
            "E10.2", "as many attempts as allowed",
            "All attempts fail, some at once and some later. There must be exactly as many "
                + "attempts as allowed, and at least one; the promise is rejected with the last "
                + "error. `Int.max` attempts are allowed, too.",
            asking:
                "With one attempt allowed, or none, or `Int.max`, which comparisons does your "
                + "code make, when, and with which result?",
            with: Answer.self, failures),
        .oneThread(
            "E10.3", "after the delay",
            "After a failed attempt, the delay for that attempt has to pass before the next "
                + "one begins. It is counted from the failure, to the nanosecond, whether the "
                + "attempt fails at once or later. It may be thousands of years.",
            asking: "Which number does `delay` receive, and when does the clock start to count?",
            with: Answer.self, delays),
        .oneThread(
            "E10.4", "errors that are not worthwhile",
            "Attempts fail, at once or later, until one fails with an error for which "
                + "`isWorthwhile` is false. No attempt follows, and the promise is rejected at once "
                + "with this error.",
            asking:
                "What is known after a failure, and which part of it decides whether to continue?",
            with: Answer.self, notWorthwhile),
        .oneThread(
            "E10.5", "work that throws",
            "Some attempts throw instead of returning a promise. That is a failure like any other: "
                + "its delay passes, and `isWorthwhile` is asked.",
            asking: "In which two ways does work report a failure, and at which line do they meet?",
            with: Answer.self, throwing),
        .unwatched(
            "E10.6", "\(many) failures at once",
            "Work fails before it returns, again and again, with and without a delay, "
                + "through a rejected promise and through an error that it throws. The stack may "
                + "not grow with the number of failures. (This test runs on a small stack.)",
            asking: "When the second attempt begins, which calls have not returned yet?",
            with: Answer.self, stack: 512 << 10, manyFailures),
        .oneThread(
            "E10.7", "nothing is kept alive",
            "The last attempt is over, at once or later, and its promise lives on. What the "
                + "work, the delay and the condition have captured must be freed.",
            asking:
                "Which closure holds itself, through a variable or an object that it has "
                + "captured?",
            with: Answer.self, nothingIsKept),
        .scenario(
            "E10.8", "withRetries ∥ reject",
            "One thread calls `withRetries` while another one rejects the promise of the "
                + "first attempt. `isWorthwhile` is asked, the second attempt is fulfilled, and "
                + "nothing is kept alive.",
            asking:
                "You read a promise and find it pending. What may be true of it in the next "
                + "line, and which of your lines would notice?",
            with: Answer.self
        ) { scenario, answer in
            let bench = Bench(scenario)
            let first = AWPromise<Int>.pending()
            scenario.thread("caller") {
                bench.begin(answer, 3) { $0 == 1 ? first.promise : .fulfilled(10 * $0) }
            }
            scenario.thread("failer") { bench.reject(first.resolver) }
            scenario.check {
                try bench.expect(started: [1, 2], "fulfilled 20")
                try bench.expectAsked()
                try bench.expectNothingIsKept()
            }
        },
        .scenario(
            "E10.11", "the second attempt ∥ reject",
            "The first attempt has failed. One thread advances the clock, which begins the second "
                + "attempt, while another one rejects the promise of that attempt. The third "
                + "attempt begins once, and is fulfilled.",
            asking:
                "How does a later attempt begin, and what may happen to its promise between two "
                + "of your lines?",
            with: Answer.self
        ) { scenario, answer in
            let bench = Bench(scenario, delay: .seconds(1))
            let second = AWPromise<Int>.pending()
            bench.begin(answer, 4) { number in
                switch number {
                case 1: .rejected(Sent("no"))
                case 2: second.promise
                default: .fulfilled(10 * number)
                }
            }
            scenario.thread("time") { bench.clock.advance(by: .seconds(1)) }
            scenario.thread("failer") { second.resolver.reject(Sent("no")) }
            scenario.check {
                try bench.expect(started: [1, 2, 3], "fulfilled 30")
                try bench.expectNothingIsKept()
            }
        },
        .scenario(
            "E10.9", "the clock ∥ reject",
            "One thread advances the clock while another one rejects the promise of the "
                + "first attempt. The second attempt begins once, after its delay.",
            asking: "What does the clock call, and what has been decided before you schedule it?",
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
            "Two threads each retry their own work, with their own clock. Neither may wait "
                + "for the other.",
            asking: "How many locks are there when a thousand operations are being retried?",
            with: Answer.self,
            first: { useAlone($0, 1) }, second: { useAlone($0, 2) }),
    ]

    /// Runs `withRetries`, and records its attempts.
    private final class Bench: Sendable {
        /// Unlike a log, it adds no step to a scenario.
        private struct Record {
            var hasAsked = false
            weak var captured: Captured?
            /// Promises of attempts that may not begin. They stay pending.
            var surplus: [(promise: AWPromise<Int>, resolver: Resolver<Int>)] = []
        }

        let clock = ManualClock()
        let started = Scenario.Log<Int>()
        let ear = Ear()
        let delay: Duration
        private let record = TakingTurns(Record())

        init(_ scenario: Scenario? = nil, delay: Duration = .zero) {
            self.delay = delay
            scenario?.state("attempts") { [started] in "\(started.entries)" }
        }

        @discardableResult
        func begin(
            _ answer: Answer, _ attempts: Int,
            delay: (@Sendable (Int) -> Duration)? = nil,
            while isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true },
            _ work: @escaping @Sendable (Int) throws -> AWPromise<Int>
        ) -> AWPromise<Int> {
            let (usual, captured) = (self.delay, Captured())
            let allowed = 1...max(1, attempts)
            record.access { $0.captured = captured }
            let promise = answer.again(
                attempts, clock,
                delay: { number in
                    withExtendedLifetime(captured) { delay?(number) ?? usual }
                },
                while: { error in
                    self.record.access { $0.hasAsked = true }
                    return withExtendedLifetime(captured) { isWorthwhile(error) }
                }
            ) { [started] number in
                started.append(number, "attempt \(number) begins")
                guard allowed.contains(number) else { return self.surplus(number) }
                return try withExtendedLifetime(captured) { try work(number) }
            }
            ear.listen(to: promise)
            return promise
        }

        private func surplus(_ number: Int) -> AWPromise<Int> {
            let surplus = AWPromise<Int>.pending()
            record.access { $0.surplus.append(surplus) }
            return surplus.promise
        }

        /// Makes an attempt fail, and advances the clock for answers that use it for a delay of
        /// zero.
        func reject(_ resolver: Resolver<Int>) {
            resolver.settle(.failure(Sent("no")))
            clock.advance(by: .zero)
        }

        /// Advances the clock until all delays have passed.
        func finish() throws {
            for _ in 0..<5 { clock.advance(by: delay) }
            if !record.access({ $0.surplus.isEmpty }) {
                throw Fault(
                    "too many",
                    "an attempt begins that is not allowed: the attempts are \(started.entries)")
            }
            try ear.expectOnce()
        }

        func expect(started numbers: [Int], _ end: String, _ when: String = "in the end") throws {
            try finish()
            try expectStarted(numbers, when)
            try ear.expect(end, when)
            if clock.waiting > 0 {
                throw Fault(
                    "kept alive",
                    "the last attempt is over, and a call is still scheduled on the clock")
            }
        }

        func expectAsked() throws {
            if !record.access({ $0.hasAsked }) {
                throw Fault("not asked", "an attempt has failed, and `isWorthwhile` was not called")
            }
        }

        /// Checks that what the work, the delay and the condition have captured is freed.
        func expectNothingIsKept() throws {
            try expectGone(
                record.access { $0.captured },
                "the last attempt is over, and the objects that the work has captured are still "
                    + "alive")
        }

        /// Checks that the next attempt begins exactly after this delay.
        func expectNext(after number: Int, _ delay: Duration) throws {
            clock.advance(by: delay - .nanoseconds(1))
            guard started.entries.count <= number else {
                throw Fault(
                    "too early", "attempt \(number + 1) has begun before its delay has passed")
            }
            clock.advance(by: .nanoseconds(1))
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
            let text = { (all: [Int]) in
                all.count > 20 ? "\(all.count), from \(all[0]) to \(all.last!)" : "\(all)"
            }
            throw Fault(
                reason, "\(when) the attempts are \(text(all)); they should be \(text(numbers))")
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
        let nothing = answer.again(2, ManualClock(), delay: { _ in .zero }, while: { _ in true }) {
            _ in AWPromise<Int?>.fulfilled(nil)
        }
        try Ear(on: nothing).expect("fulfilled nil")
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
        let unlimited = Bench()
        unlimited.begin(answer, .max) { number in
            number < 3 ? .rejected(Sent("no")) : .fulfilled(number)
        }
        try unlimited.expect(started: [1, 2, 3], "fulfilled 3", "with Int.max attempts in the end")
        let (again, same) = (Bench(), AWPromise<Int>.rejected(Sent("same")))
        again.begin(answer, 3) { _ in same }
        try again.expect(
            started: [1, 2, 3], "rejected 'same'", "with the same promise for each attempt")
        for attempts in [0, -1, .min] {
            let bench = Bench()
            bench.begin(answer, attempts) { _ in .rejected(Sent("only")) }
            try bench.expect(
                started: [1], "rejected 'only'", "with \(attempts) attempts in the end")
        }
    }

    /// The delays of a table; zero for an attempt after the last one.
    private static func pause(_ table: [Duration]) -> @Sendable (Int) -> Duration {
        { number in table.indices.contains(number - 1) ? table[number - 1] : .zero }
    }

    private static let tables: [[Duration]] = [
        [.seconds(3), .seconds(1), .seconds(7)], [.seconds(5)], Array(Bounds.durations.dropFirst()),
    ]

    private static func delays(_ answer: Answer) throws {
        for table in tables {
            try failLater(answer, table)
            try failAtOnce(answer, table) { .rejected(Sent("no \($0)")) }
        }
    }

    private static func failLater(_ answer: Answer, _ table: [Duration]) throws {
        let bench = Bench()
        let works = (0...table.count).map { _ in AWPromise<Int>.pending() }
        bench.begin(answer, table.count + 1, delay: pause(table)) { number in
            works[number - 1].promise
        }
        for (index, delay) in table.enumerated() {
            bench.clock.advance(by: .seconds(2))
            works[index].resolver.reject(Sent("no"))
            try bench.expectNext(after: index + 1, delay)
        }
        works[table.count].resolver.fulfill(1)
        try bench.expect(started: Array(1...table.count + 1), "fulfilled 1")
    }

    /// The work fails before it returns: it returns a rejected promise, or throws.
    private static func failAtOnce(
        _ answer: Answer, _ table: [Duration],
        _ fail: @escaping @Sendable (Int) throws -> AWPromise<Int>
    ) throws {
        let bench = Bench()
        bench.begin(answer, table.count + 1, delay: pause(table), fail)
        for (index, delay) in table.enumerated() {
            try bench.expectNext(after: index + 1, delay)
        }
        let count = table.count + 1
        try bench.expect(started: Array(1...count), "rejected 'no \(count)'")
    }

    private static func notWorthwhile(_ answer: Answer) throws {
        try giveUp(answer) { .rejected(Sent($0)) }
        for delay in [Duration.zero, .seconds(1)] {
            for hopeless in 1...3 { try giveUpLater(answer, delay, hopeless) }
        }
    }

    /// Ends at an error that is not worth another attempt, and that comes after the work has
    /// returned. Of the attempts before it, the odd ones fail later, too.
    private static func giveUpLater(
        _ answer: Answer, _ delay: Duration, _ hopeless: Int
    ) throws {
        let bench = Bench(delay: delay)
        let works = (0..<hopeless).map { _ in AWPromise<Int>.pending() }
        bench.begin(answer, 10, while: { ($0 as? Sent)?.name != "hopeless" }) { number in
            if number > hopeless { return .fulfilled(number) }
            if number < hopeless, number % 2 == 0 { return .rejected(Sent("no")) }
            return works[number - 1].promise
        }
        for number in 1..<hopeless {
            works[number - 1].resolver.reject(Sent("no"))
            bench.clock.advance(by: delay)
        }
        try bench.expectStarted(Array(1...hopeless), "when attempt \(hopeless) is pending")
        works[hopeless - 1].resolver.reject(Sent("hopeless"))
        try bench.ear.expect("rejected 'hopeless'", "after attempt \(hopeless)")
        bench.clock.advance(by: .seconds(100))
        try bench.expect(started: Array(1...hopeless), "rejected 'hopeless'", "long after")
    }

    /// Ends at an error that is not worth another attempt: first the third error, then the first.
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
        for delay in [Duration.zero, .milliseconds(1)] {
            try failManyTimes(answer, many, delay, returned)
            try failManyTimes(answer, many, delay, thrown)
            try failManyTimes(answer, .max, delay, both)
        }
    }

    /// More than a counter of 16 bits with a sign can count.
    private static let many = 33_000

    /// The delay grows with each attempt, unless it is zero.
    private static func failManyTimes(
        _ answer: Answer, _ attempts: Int, _ delay: Duration,
        _ fail: @escaping @Sendable (Int) throws -> AWPromise<Int>
    ) throws {
        let (bench, times) = (Bench(), Scenario.Log<Duration>())
        bench.begin(answer, attempts, delay: { delay * $0 }) { number in
            times.append(bench.clock.now)
            return number == many ? .fulfilled(number) : try fail(number)
        }
        bench.clock.advance(by: delay * (many * many))
        try bench.expect(started: Array(1...many), "fulfilled \(many)")
        for (number, time) in times.entries.enumerated()
        where time != delay * (number * (number + 1) / 2) {
            throw Fault(
                "wrong delay", "attempt \(number + 1) has not begun after the delay of \(number) ms"
            )
        }
    }

    /// When and how an attempt ends.
    private enum Ending: CaseIterable {
        case atOnce, thrown, later
    }

    private static func nothingIsKept(_ answer: Answer) throws {
        for ending in Ending.allCases {
            for delay in [Duration.zero, .seconds(1)] {
                for successful in 1...3 {
                    try nothingIsKept(answer, ending, delay, successful: successful)
                }
                // All attempts fail; or the first one fails, and no other is worthwhile.
                try nothingIsKept(answer, ending, delay, successful: 9)
                try nothingIsKept(answer, ending, delay, successful: 9, while: { _ in false })
            }
        }
    }

    private static func nothingIsKept(
        _ answer: Answer, _ ending: Ending, _ delay: Duration, successful: Int,
        while isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) throws {
        let bench = Bench(delay: delay)
        let works = (0..<3).map { _ in AWPromise<Int>.pending() }
        let end = { @Sendable (number: Int) in
            works[number - 1].resolver.settle(
                number < successful ? .failure(Sent("no")) : .success(number))
        }
        let promise = bench.begin(answer, 3, while: isWorthwhile) { number in
            if ending == .thrown, number < successful { throw Sent("no") }
            if ending != .later { _ = end(number) }
            return works[number - 1].promise
        }
        for number in 1...3 {
            if ending == .later { _ = end(number) }
            bench.clock.advance(by: delay)
        }
        try bench.ear.expectOnce()
        try bench.expectNothingIsKept()
        withExtendedLifetime((promise, works)) {}
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
