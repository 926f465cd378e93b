import PromiseOperators
import SharedSuite

extension Exercise {
    static let again = Exercise(
        number: 10, title: "Again", chapter: 8, adapters: ["Retry", "MainQueue"],
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
        forbidden: Forbidden.sentAway + Forbidden.finished("retry")
            + Forbidden.clockOfTheTests,
        requirements: [
            .programs(
                "E10.1", "one thread, small programs",
                "Attempts are fulfilled or fail, at once, later, or by throwing, with and without "
                    + "delays, until one is fulfilled, the last one has failed, or an error is not "
                    + "worthwhile. There are as many attempts as the task asks for, each after its "
                    + "delay, which is counted from the failure to the nanosecond, and may be "
                    + "thousands of years. One, none, or `Int.max` may be allowed. Then nothing is "
                    + "left on the clock, and what the work has captured is freed.",
                asking:
                    "What is known after a failure, and which part of it decides whether, when and "
                    + "with which number the next attempt begins?"
            ) { .inSequence(OperatorPrograms.retries, watched: 80, withNumbers($0)) },
            .otherValues("E10.2", .retry(oneSuccess), .retry(oneFailure)),
            .unwatched(
                "E10.3", "\(many) failures at once",
                "Work fails before it returns, again and again, with and without a delay, "
                    + "through a rejected promise and through an error that it throws, until the "
                    + "last attempt is fulfilled, or its error is not worthwhile. The stack may not "
                    + "grow with the number of failures. (This test runs on a small stack.)",
                asking: "When the second attempt begins, which calls have not returned yet?",
                with: (any RetryAnswer).self, stack: 512 << 10, manyFailures),
            .programs(
                "E10.4", "two and three threads, small programs",
                "One thread calls `withRetries`, advances the clock, or settles the promise of an "
                    + "attempt, while others settle those of other attempts. In every interleaving, "
                    + "each attempt begins once, as if the calls had been made one after another, and "
                    + "nothing is kept alive.",
                asking:
                    "You read a promise and find it pending. What may be true of it in the next "
                    + "line, and which of your lines would notice?"
            ) { .inThreads(OperatorPrograms.retriesInThreads, withNumbers($0)) },
            .independence(
                "E10.5", of: "retries",
                "Two threads each retry their own work, with their own clock.",
                [
                    .call(.retry(fourAttempts)),
                    .settle(0, .reject(1)), .advance(.zero), .advance(.zero),
                    .settle(1, .fulfill(1)), .call(.retry(twoFailures)),
                    .advance(.seconds(1)),
                ]),
        ])

    private static let oneSuccess = OperatorModel.Retries(
        attempts: 2, works: [.promise(0), .failure(1)], delays: [])
    private static let oneFailure = OperatorModel.Retries(
        attempts: 3, works: [.failure(1), .promise(0), .failure(2)], delays: [])
    private static let twoFailures = OperatorModel.Retries(
        attempts: 2, works: [.failure(1), .failure(2)], delays: [.seconds(1)])
    private static let fourAttempts = OperatorModel.Retries(
        attempts: 4, works: [.promise(0), .failure(1), .promise(1)], delays: [])

    /// More than a counter of 16 bits with a sign can count.
    private static let many = 33_000

    @Sendable private static func manyFailures(_ answer: any RetryAnswer) throws {
        // No delay; a delay after the first failure only; a delay that grows.
        let delays: [@Sendable (Int) -> Duration] = [
            { _ in .zero }, { $0 == 1 ? .milliseconds(1) : .zero }, { .milliseconds($0) },
        ]
        for delay in delays {
            let last = AWPromise.fulfilled(many)
            try failManyTimes(answer, many, delay, last) { _ in .rejected(Sent("no")) }
            try failManyTimes(answer, many, delay, last) { _ in throw Sent("no") }
            // Without a limit, an error that is not worthwhile comes last.
            try failManyTimes(answer, .max, delay, .rejected(Sent("end"))) { number in
                if number % 2 == 0 { throw Sent("no") }
                return .rejected(Sent("no"))
            }
        }
        try failManyTimesAfterPending(answer)
    }

    /// The first promise is pending. All later failures follow its settlement.
    private static func failManyTimesAfterPending(_ answer: any RetryAnswer) throws {
        let (clock, first, receiver) = (ManualClock(), AWPromise<Int>.pending(), Receiver())
        let promise = answer.again(many, clock, delay: { _ in .zero }, while: { _ in true }) {
            number in
            if number == 1 { return first.promise }
            return number == many ? .fulfilled(number) : .rejected(Sent("no"))
        }
        receiver.observe(promise) { "\($0)" }
        first.resolver.reject(Sent("no"))
        clock.advance(by: .zero)
        if let fault = Receiver.fault([receiver.received], insteadOf: [["fulfilled \(many)"]]) {
            throw fault
        }
    }

    private static func failManyTimes(
        _ answer: any RetryAnswer, _ attempts: Int, _ delay: @escaping @Sendable (Int) -> Duration,
        _ last: AWPromise<Int>, _ fail: @escaping @Sendable (Int) throws -> AWPromise<Int>
    ) throws {
        let (clock, times) = (ManualClock(), TakingTurns<[Duration]>([]))
        let isWorthwhile = { @Sendable (error: any Error) in error as? Sent == Sent("no") }
        let promise = answer.again(attempts, clock, delay: delay, while: isWorthwhile) { number in
            times.access { $0.append(clock.now) }
            if number < many { return try fail(number) }
            return number == many ? last : .fulfilled(number)
        }
        let received = [promise, last].map { promise in
            let receiver = Receiver()
            receiver.observe(promise) { "\($0)" }
            return receiver
        }
        clock.advance(by: .milliseconds(many * many))
        let fault = Receiver.fault([received[0].received], insteadOf: [received[1].received])
        if let fault { throw fault }
        var due = Duration.zero
        for (number, time) in times.access({ $0 }).enumerated() {
            if number > 0 { due += delay(number) }
            if time == due { continue }
            throw Fault(
                "wrong delay",
                "attempt \(number + 1) has not begun after the delay of \(delay(number))")
        }
    }
}
