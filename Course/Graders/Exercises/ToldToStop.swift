import Dispatch
import RaceLab

extension Exercise {
    static let toldToStop = Exercise(
        11, "Told to stop", chapter: 8, adapter: "Cancellation",
        hints: [
            "Registering is like `then`, cancelling is like `resolve`: you know this race, "
                + "and its solution. What is read, and what is changed because of it?",
            "`onCancel` chooses between two actions: it adds the observer to the list, or "
                + "it calls it. `cancel` takes the list, and from then on no thread may add to "
                + "it. Each of these is one critical section.",
            "The critical section ends before any observer is called. The observers to call "
                + "leave it as a value.",
            "A registration has to find its observer again, without keeping it alive after "
                + "the call. A number that is used only once works; the index in an array "
                + "belongs to another observer after the next withdrawal.",
        ],
        afterword:
            "A flag and a dictionary behind one lock; a promise inside, which has solved "
            + "this race already; or a cell for each observer that can be emptied once, so "
            + "that it does not matter if both threads try. PromiseOperators uses the "
            + "promise: Cancellation.swift. (C++ has the same pair as `stop_source` and "
            + "`stop_token`; there, withdrawing even waits for an observer that is running.)",
        forbidden: SourceRules.sentAway
            + SourceRules.finished("CancellationSource", "CancellationToken"),
        requirements: CancellationRequirements.all)
}

private enum CancellationRequirements {
    typealias Answer = any CancellationAnswer

    static let all: [Requirement] = [
        .programs(
            "E11.1", "one thread, small programs",
            "One thread registers and withdraws observers, cancels, and reads `isCancelled`, in every "
                + "order, and an observer does so, too. After each call, each observer has been called "
                + "as often as it should have been.",
            asking:
                "What does each call leave behind for the others to find? How does a registration "
                + "find its own observer?",
            with: Answer.self
        ) { answer in
            .inSequence(CancellationPrograms.inSequence, watched: 200) { _ in
                CancellationSubject(answer)
            }
        },
        .oneThread(
            "E11.6", "nothing is kept alive",
            "Observers are called, withdrawn, or released together with the source. What "
                + "they have captured must be freed, even if the registrations live on.",
            asking: "What still holds an observer after it has been called? And which object "
                + "references which, before anything has happened?",
            with: Answer.self, nothingIsKept),
        .oneThread(
            "E11.7", "objects that live on",
            "The source is released, cancelled or not, and the token lives on; then the "
                + "token is released, and a registration lives on. The state stays as it was, "
                + "late observers are called, and withdrawing has no effect.",
            asking: "Where is it stored that the source was cancelled, and what keeps that alive?",
            with: Answer.self, livesOn),
        .unwatched(
            "E11.8", "registrations that are released",
            "\(Bounds.squared) observers are registered, and the registrations are released. In between, "
                + "others are registered and withdrawn. At the cancellation, all that were not "
                + "withdrawn are called.",
            asking: "How do you distinguish two observers, and can two of them be equal in that?",
            with: Answer.self, calledThoughDropped),
        .programs(
            "E11.9", "two and three threads, small programs",
            "Two or three threads register and withdraw observers, cancel, and read `isCancelled`. In "
                + "every interleaving, each observer is called as often as if the calls had been "
                + "made one after another.",
            asking:
                "Which two of your steps must be one, so that no other thread can come between them?",
            with: Answer.self
        ) { answer in
            .inThreads(CancellationPrograms.inThreads) { _ in CancellationSubject(answer) }
        },
        .scenario(
            "E11.16", "an observer that waits",
            "Three observers are registered before the cancellation, and two after it; and with "
                + "another source, one registers a second one. Each waits until another thread has "
                + "read `isCancelled`, and has registered and withdrawn an observer of its own.",
            asking:
                "A recursive lock helps only the thread that holds it. Which other thread "
                + "needs the lock while an observer runs?",
            with: Answer.self
        ) { scenario, answer in
            let (pair, other) = (answer.pair(), answer.pair())
            let (begun, used) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let wait = { @Sendable in
                begun.signal()
                used.wait()
            }
            // They are equal, because an answer may call them in any order.
            for _ in 1...3 { _ = pair.onCancel(wait) }
            _ = other.onCancel {
                _ = other.onCancel(wait)
                wait()
            }
            scenario.thread("canceller") {
                pair.cancel()
                for _ in 1...2 { _ = pair.onCancel(wait) }
                other.cancel()
            }
            scenario.thread("worker") {
                for pair in [pair, pair, pair, pair, pair, other, other] {
                    begun.wait()
                    ask(pair)
                    used.signal()
                }
            }
        },
        .oneThread(
            "E11.18", "a `deinit` that uses the token",
            "What an observer has captured is freed, because the observer was called, "
                + "withdrawn, or registered too late. Its `deinit` reads the token, and registers "
                + "another observer.",
            asking:
                "At which line is the last reference to an observer released, and what do "
                + "you hold there?",
            with: Answer.self, { try askedByDeinit($0) }
        ).alsoRunOptimized,
        .scenario(
            "E11.19", "a `deinit` that waits",
            "One thread withdraws an observer, and then cancels another source. The `deinit` of what "
                + "an observer has captured waits until another thread has read the token, and "
                + "registered an observer of its own.",
            asking:
                "A recursive lock helps only the thread that holds it. Which other thread "
                + "needs the lock while an observer is freed?",
            with: Answer.self
        ) { scenario, answer in
            let (pair, other) = (answer.pair(), answer.pair())
            let bell = DispatchSemaphore(value: 0)
            let withdrawals = [pair, other].map { observe($0) { bell.wait() } }
            scenario.thread("worker") {
                withdrawals[0]()
                other.cancel()
            }
            scenario.thread("other") {
                for pair in [pair, other] {
                    ask(pair)
                    bell.signal()
                }
            }
            withExtendedLifetime(withdrawals) {}
        }.alsoRunOptimized,
        .independence(
            "E11.17", "two sources, two threads",
            "Two threads each use all functions of their own source. Neither may wait for "
                + "the other.",
            asking: "How many locks are there for a thousand sources?",
            with: Answer.self,
            first: { useAlone($0) }, second: { useAlone($0) }),
    ]

    // MARK: One thread

    /// No variable keeps the registrations. Many observers, all with the same closure, expose
    /// answers that identify an observer by an address.
    private static func calledThoughDropped(_ answer: Answer) throws {
        let (pair, calls) = (answer.pair(), Scenario.Log<Int>())
        let observer = { @Sendable in calls.append(1) }
        let count = Bounds.squared
        for _ in 0..<count {
            _ = pair.onCancel(observer)
            pair.onCancel(observer)()
        }
        pair.cancel()
        let made = calls.entries.count
        guard made != count else { return }
        throw Fault(
            made < count ? "lost" : "twice",
            "\(count) observers are registered, the registrations are released, and \(made) "
                + "are called; others were withdrawn")
    }

    /// What happens to an observer. Each returns the function that withdraws it.
    private static let endings:
        [(String, @Sendable (any CancellationPair, () -> () -> Void) -> () -> Void)] = [
            (
                "withdrawn",
                { _, observe in
                    let withdraw = observe()
                    withdraw()
                    return withdraw
                }
            ),
            (
                "called",
                { pair, observe in
                    let withdraw = observe()
                    pair.cancel()
                    return withdraw
                }
            ),
            (
                "called late",
                { pair, observe in
                    pair.cancel()
                    return observe()
                }
            ),
        ]

    private static func nothingIsKept(_ answer: Answer) throws {
        weak var captured: Captured?
        let observe = { (pair: any CancellationPair) in
            let object = Captured()
            captured = object
            return pair.onCancel { withExtendedLifetime(object) {} }
        }
        for (when, run) in endings {
            let pair = answer.pair()
            let withdraw = run(pair) { observe(pair) }
            try expectGone(
                captured, "the observer was \(when), and what it has captured is still alive")
            withExtendedLifetime((pair, withdraw)) {}
        }
        _ = observe(answer.pair())
        try expectGone(
            captured, "source and token have been released, and an observer is still alive")
    }

    /// An object for an observer to capture, whose `deinit` calls a function.
    private final class Farewell: @unchecked Sendable {
        private let say: () -> Void

        init(_ say: @escaping () -> Void) {
            self.say = say
        }

        deinit { say() }
    }

    private static func observe(
        _ pair: any CancellationPair, withFarewell say: @escaping () -> Void
    ) -> () -> Void {
        let farewell = Farewell(say)
        return pair.onCancel { withExtendedLifetime(farewell) {} }
    }

    private static func ask(_ pair: any CancellationPair) {
        _ = pair.isCancelled
        pair.onCancel {}()
    }

    private static func askedByDeinit(_ answer: Answer) throws {
        for (when, run) in endings {
            let (pair, farewells) = (answer.pair(), Scenario.Log<Int>())
            let withdraw = run(pair) {
                observe(
                    pair,
                    withFarewell: {
                        ask(pair)
                        farewells.append(1)
                    })
            }
            if farewells.entries != [1] {
                throw Fault(
                    "kept alive", "an observer was \(when), and what it has captured is not freed")
            }
            withExtendedLifetime(withdraw) {}
        }
    }

    private static func livesOn(_ answer: Answer) throws {
        for isCancelled in [true, false] {
            let calls = Scenario.Log<String>()
            var withdrawals: [() -> Void] = []
            do {
                let token = answer.tokenAlone { pair in
                    withdrawals.append(pair.onCancel { calls.append("early") })
                    if isCancelled { pair.cancel() }
                }
                withdrawals.append(token.onCancel { calls.append("late") })
                if token.isCancelled != isCancelled {
                    let said =
                        isCancelled
                        ? "has been cancelled, and its `isCancelled` is false" : "says yes"
                    throw Fault("wrong value", "the source is freed; the token \(said)")
                }
            }
            for withdraw in withdrawals { withdraw() }
            let expected = isCancelled ? ["early", "late"] : []
            if calls.entries != expected {
                throw Fault(
                    calls.entries.count < expected.count ? "lost" : "wrongly called",
                    "the source is freed, the calls are \(calls.entries); they should be \(expected)"
                )
            }
        }
    }

    // MARK: Several threads

    private static func useAlone(_ answer: Answer) {
        let pair = answer.pair()
        let withdraw = pair.onCancel {}
        _ = pair.onCancel {}
        withdraw()
        _ = pair.isCancelled
        pair.cancel()
        _ = pair.onCancel {}
    }
}
