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
        .oneThread(
            "E11.1", "observers are called",
            "Some observers are registered, or none, and then the source is cancelled. Each "
                + "observer is called once, and not before; `isCancelled` is false before, and "
                + "true after.",
            asking:
                "What does `onCancel` leave for `cancel` to find, and what does `cancel` "
                + "leave for `isCancelled`?",
            with: Answer.self, { try called($0) }),
        .oneThread(
            "E11.2", "too late",
            "An observer is registered after the cancellation. It must be called at once.",
            asking:
                "Which line calls an observer that is registered after all others have been called?",
            with: Answer.self, { try late($0) }),
        .oneThread(
            "E11.3", "cancelled twice",
            "The source is cancelled three times, with observers registered in between.",
            asking: "What does the second call of `cancel` find, and what should it find?",
            with: Answer.self, { try cancelledAgain($0) }),
        .oneThread(
            "E11.4", "withdrawn",
            "Some of several observers are withdrawn, in different orders, and one of them "
                + "twice. Those are not called, and the others are.",
            asking:
                "How does a registration find its own observer, after others have been removed?",
            with: Answer.self, { try withdrawn($0) }),
        .oneThread(
            "E11.5", "an observer that uses the token",
            "An observer reads `isCancelled`, registers another observer, cancels again, "
                + "and withdraws itself. It reads `true`, and the other observer is called.",
            asking:
                "What do you hold while observers are called, and what is still left to do "
                + "at that moment?",
            with: Answer.self, { try comesBack($0) }),
        .oneThread(
            "E11.6", "nothing is kept alive",
            "Observers are called, withdrawn, or released together with the source. What "
                + "they have captured must be freed, even if the registrations live on.",
            asking: "What still holds an observer after it has been called? And which object "
                + "references which, before anything has happened?",
            with: Answer.self, { try nothingIsKept($0) }),
        .oneThread(
            "E11.7", "objects that live on",
            "The source is released, cancelled or not, and the token lives on; then the "
                + "token is released, and a registration lives on. The state stays as it was, "
                + "late observers are called, and withdrawing has no effect.",
            asking: "Where is it stored that the source was cancelled, and what keeps that alive?",
            with: Answer.self, { try livesOn($0) }),
        .unwatched(
            "E11.8", "registrations that are released",
            "\(Bounds.squared) observers are registered, and the registrations are released. In between, "
                + "others are registered and withdrawn. At the cancellation, all that were not "
                + "withdrawn are called.",
            asking: "How do you distinguish two observers, and can two of them be equal in that?",
            with: Answer.self, { try calledThoughDropped($0) }),
        .scenario(
            "E11.9", "cancel ∥ onCancel",
            "One thread cancels while another one registers an observer; one is already "
                + "registered. Early or late, each is called once.",
            asking:
                "At the marked step, what does the one thread assume that the other has made untrue?",
            with: Answer.self
        ) { scenario, answer in
            let (pair, calls) = (answer.pair(), Calls())
            calls.observe(pair, "early observer")
            scenario.thread("canceller") { pair.cancel() }
            scenario.thread("observer") { calls.observe(pair, "late observer") }
            scenario.check { try calls.expectOnce("early observer", "late observer") }
            scenario.state("token") { pair.isCancelled ? "cancelled" : "-" }
        },
        .scenario(
            "E11.10", "cancel ∥ cancel",
            "Two threads cancel. The observer is called once.",
            asking:
                "Both threads want to call the observers. Where is it decided which of them "
                + "does?",
            with: Answer.self
        ) { scenario, answer in
            let (pair, calls) = (answer.pair(), Calls())
            calls.observe(pair, "observer")
            scenario.thread("first") { pair.cancel() }
            scenario.thread("second") { pair.cancel() }
            scenario.check { try calls.expectOnce("observer") }
            scenario.state("token") { pair.isCancelled ? "cancelled" : "-" }
        },
        .scenario(
            "E11.11", "cancel ∥ withdraw",
            "One thread cancels while another one withdraws an observer. That observer may "
                + "be called or not; the other one must be called.",
            asking:
                "What does the withdrawing thread access, and which other thread may access it, too?",
            with: Answer.self
        ) { scenario, answer in
            let (pair, calls) = (answer.pair(), Calls())
            let withdraw = calls.observe(pair, "withdrawn")
            calls.observe(pair, "other")
            scenario.thread("canceller") { pair.cancel() }
            scenario.thread("worker") { withdraw() }
            scenario.check {
                try calls.expectOnce("other")
                try calls.expectAtMostOnce("withdrawn")
            }
            scenario.outcome { calls.made.contains("withdrawn") ? "called" : "not called" }
            scenario.expect("called", .acceptable, "the cancellation was first")
            scenario.expect("not called", .acceptable, "the withdrawal was first")
        },
        .scenario(
            "E11.12", "onCancel ∥ onCancel",
            "Two threads register one observer each. At the cancellation, both are called.",
            asking:
                "Both threads change the list. What keeps the second out while the first "
                + "modifies it?",
            with: Answer.self
        ) { scenario, answer in
            let (pair, calls) = (answer.pair(), Calls())
            scenario.thread("first") { calls.observe(pair, "first observer") }
            scenario.thread("second") { calls.observe(pair, "second observer") }
            scenario.check {
                pair.cancel()
                try calls.expectOnce("first observer", "second observer")
            }
        },
        .scenario(
            "E11.13", "onCancel ∥ withdraw",
            "One thread registers an observer while another one withdraws another observer. "
                + "At the cancellation, the new one is called, and the withdrawn one is not.",
            asking:
                "Both threads change the list. What keeps the second out while the first "
                + "modifies it?",
            with: Answer.self
        ) { scenario, answer in
            let (pair, calls) = (answer.pair(), Calls())
            let withdraw = calls.observe(pair, "withdrawn")
            scenario.thread("observer") { calls.observe(pair, "observer") }
            scenario.thread("worker") { withdraw() }
            scenario.check {
                pair.cancel()
                try calls.expectOnce("observer")
                try calls.expectNone("withdrawn")
            }
        },
        .scenario(
            "E11.14", "withdraw ∥ withdraw",
            "Two threads withdraw the same observer. At the cancellation, that one is not "
                + "called, and the other one is.",
            asking:
                "What does a registration change in itself when it is withdrawn, and may "
                + "two threads do that?",
            with: Answer.self
        ) { scenario, answer in
            let (pair, calls) = (answer.pair(), Calls())
            let withdraw = calls.observe(pair, "withdrawn")
            calls.observe(pair, "other")
            scenario.thread("first") { withdraw() }
            scenario.thread("second") { withdraw() }
            scenario.check {
                pair.cancel()
                try calls.expectOnce("other")
                try calls.expectNone("withdrawn")
            }
        },
        .scenario(
            "E11.15", "cancel ∥ isCancelled",
            "One thread cancels while another one reads `isCancelled`. Either answer is "
                + "correct, but the access must be safe.",
            asking: "This thread only reads. What keeps the writer out meanwhile?",
            with: Answer.self
        ) { scenario, answer in
            let pair = answer.pair()
            let answers = Scenario.Log<Bool>()
            scenario.thread("canceller") { pair.cancel() }
            scenario.thread("worker") {
                let isCancelled = pair.isCancelled
                answers.append(isCancelled, isCancelled ? "reads true" : "reads false")
            }
            scenario.check {
                if !pair.isCancelled {
                    throw Fault("wrong value", "it has been cancelled, and `isCancelled` is false")
                }
            }
            scenario.outcome { answers.entries == [true] ? "yes" : "no" }
            scenario.expect("yes", .acceptable, "the cancellation was first")
            scenario.expect("no", .acceptable, "the read was first")
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
            "E11.19", "withdraw, and a `deinit` that waits",
            "One thread withdraws an observer. The `deinit` of what it has captured waits "
                + "until another thread has read the token, and registered an observer of its "
                + "own.",
            asking:
                "A recursive lock helps only the thread that holds it. Which other thread "
                + "needs the lock while an observer is freed?",
            with: Answer.self
        ) { scenario, answer in
            let pair = answer.pair()
            let bell = DispatchSemaphore(value: 0)
            let withdraw = observe(pair, withFarewell: { bell.wait() })
            scenario.thread("worker") { withdraw() }
            scenario.thread("other") {
                ask(pair)
                bell.signal()
            }
        }.alsoRunOptimized,
        .scenario(
            "E11.20", "cancel, and a `deinit` that waits",
            "One thread cancels. The `deinit` of what an observer has captured waits until "
                + "another thread has read the token, and registered an observer of its own.",
            asking:
                "After `cancel` has called an observer, where is it released, and what is "
                + "held meanwhile?",
            with: Answer.self
        ) { scenario, answer in
            let pair = answer.pair()
            let bell = DispatchSemaphore(value: 0)
            let withdraw = observe(pair, withFarewell: { bell.wait() })
            scenario.thread("canceller") { pair.cancel() }
            scenario.thread("other") {
                ask(pair)
                bell.signal()
            }
            withExtendedLifetime(withdraw) {}
        }.alsoRunOptimized,
        .independence(
            "E11.17", "two sources, two threads",
            "Two threads each use all functions of their own source. Neither may wait for "
                + "the other.",
            asking: "How many locks are there for a thousand sources?",
            with: Answer.self,
            first: { useAlone($0) }, second: { useAlone($0) }),
    ]

    /// Records which observers were called, and in which order.
    private final class Calls: Sendable {
        private let log = Scenario.Log<String>()

        @discardableResult
        func observe(_ pair: any CancellationPair, _ name: String) -> () -> Void {
            pair.onCancel { [log] in log.append(name, "\(name) is called") }
        }

        var made: [String] { log.entries }

        private func count(_ name: String) -> Int { log.entries.count { $0 == name } }

        func expectNone(_ names: String..., when: String = "in the end") throws {
            for name in names where count(name) > 0 {
                throw Fault("wrongly called", "\(when) '\(name)' has been called")
            }
        }

        func expectOnce(_ names: String..., when: String = "in the end") throws {
            for name in names where count(name) == 0 {
                throw Fault("lost", "\(when) '\(name)' has not been called")
            }
            for name in names { try expectAtMostOnce(name, when: when) }
        }

        func expectAtMostOnce(_ name: String, when: String = "in the end") throws {
            if count(name) > 1 { throw Fault("twice", "\(when) '\(name)' has been called twice") }
        }
    }

    // MARK: One thread

    private static func called(_ answer: Answer) throws {
        for count in [1, 3, 0] {
            let (pair, calls) = (answer.pair(), Calls())
            let names = (0..<count).map { "observer \($0)" }
            for name in names { calls.observe(pair, name) }
            if let early = calls.made.first {
                throw Fault("too early", "'\(early)' is called before the cancellation")
            }
            if pair.isCancelled {
                throw Fault("wrong value", "`isCancelled` is true before the cancellation")
            }
            pair.cancel()
            for name in names { try calls.expectOnce(name) }
            if !pair.isCancelled {
                throw Fault("wrong value", "it has been cancelled, and `isCancelled` is false")
            }
        }
    }

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

    private static func late(_ answer: Answer) throws {
        for count in 0...2 {
            let (pair, calls) = (answer.pair(), Calls())
            for number in 0..<count { calls.observe(pair, "observer \(number)") }
            pair.cancel()
            for name in ["late", "later"] {
                let withdraw = calls.observe(pair, name)
                try calls.expectOnce(name, when: "after its registration")
                withdraw()
            }
            try calls.expectOnce("late", "later")
            for number in 0..<count { try calls.expectOnce("observer \(number)") }
        }
    }

    private static func cancelledAgain(_ answer: Answer) throws {
        let (pair, calls) = (answer.pair(), Calls())
        calls.observe(pair, "early")
        for name in ["late", "later", "last"] {
            pair.cancel()
            calls.observe(pair, name)
        }
        try calls.expectOnce("early", "late", "later", "last")
    }

    private static func withdrawn(_ answer: Answer) throws {
        for gone in [[0], [3], [0, 1], [2, 0], [1, 3], [3, 2, 1, 0]] {
            let (pair, calls) = (answer.pair(), Calls())
            let withdrawals = (0..<4).map { calls.observe(pair, "observer \($0)") }
            for number in gone { withdrawals[number]() }
            withdrawals[gone[0]]()
            calls.observe(pair, "newcomer")
            withdrawals[gone[0]]()
            pair.cancel()
            for number in 0..<4 {
                if gone.contains(number) {
                    try calls.expectNone("observer \(number)", when: "after its withdrawal")
                } else {
                    try calls.expectOnce("observer \(number)", when: "after other withdrawals")
                }
            }
            try calls.expectOnce("newcomer", when: "after other withdrawals")
            withdrawals[gone[0]]()
        }
    }

    private static func comesBack(_ answer: Answer) throws {
        let (pair, calls) = (answer.pair(), Calls())
        let withdrawals = Scenario.Log<() -> Void>()
        let answers = Scenario.Log<Bool>()
        withdrawals.append(
            pair.onCancel {
                calls.observe(pair, "registered inside")
                answers.append(pair.isCancelled)
                pair.cancel()
                for withdraw in withdrawals.entries { withdraw() }
            })
        calls.observe(pair, "beside")
        pair.cancel()
        try calls.expectOnce("registered inside", "beside")
        if answers.entries != [true] {
            throw Fault("wrong value", "inside an observer, `isCancelled` is false")
        }
        _ = pair.onCancel { pair.cancel() }
        try calls.expectOnce("registered inside", "beside")
    }

    private static func nothingIsKept(_ answer: Answer) throws {
        try expectFreed("the observer was called, and what it has captured is still alive") {
            pair, observe in
            let withdraw = observe()
            pair.cancel()
            return withdraw
        }
        try expectFreed("the observer was late, and what it has captured is still alive") {
            pair, observe in
            pair.cancel()
            return observe()
        }
        try expectFreed("the observer was withdrawn, and what it has captured is still alive") {
            _, observe in
            let withdraw = observe()
            withdraw()
            return withdraw
        }
        weak var captured: Captured?
        do {
            let object = Captured()
            captured = object
            _ = answer.pair().onCancel { withExtendedLifetime(object) {} }
        }
        try expectGone(
            captured, "source and token have been released, and an observer is still alive")

        func expectFreed(
            _ what: String,
            _ register: (any CancellationPair, () -> () -> Void) -> () -> Void
        ) throws {
            weak var captured: Captured?
            let pair = answer.pair()
            var withdraw: (() -> Void)?
            do {
                let object = Captured()
                captured = object
                withdraw = register(pair) { pair.onCancel { withExtendedLifetime(object) {} } }
            }
            try expectGone(captured, what)
            withExtendedLifetime((pair, withdraw)) {}
        }
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
        let ways: [(when: String, (any CancellationPair, () -> () -> Void) -> () -> Void)] = [
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
        for (when, run) in ways {
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
            let calls = Calls()
            var withdrawals: [() -> Void] = []
            do {
                let token = answer.tokenAlone { pair in
                    withdrawals.append(calls.observe(pair, "early"))
                    if isCancelled { pair.cancel() }
                }
                withdrawals.append(calls.observe(token, "late"))
                if token.isCancelled != isCancelled {
                    let said =
                        isCancelled
                        ? "has been cancelled, and its `isCancelled` is false" : "says yes"
                    throw Fault("wrong value", "the source is freed; the token \(said)")
                }
            }
            for withdraw in withdrawals { withdraw() }
            if isCancelled {
                try calls.expectOnce("early", "late", when: "after the source was freed")
            } else {
                try calls.expectNone("early", "late", when: "without a cancellation")
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
