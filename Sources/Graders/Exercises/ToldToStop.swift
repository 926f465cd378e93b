import Dispatch
import RaceLab

extension Exercise {
    static let toldToStop = Exercise(
        11, "Told to stop", chapter: 6, adapter: "Cancellation",
        hints: [
            "To register is `then`, to cancel is `resolve`: you have seen this race before, and "
                + "what won it. What is looked at, and what is changed because of it?",
            "Whoever registers decides between two things: to leave the observer on the list, or "
                + "to call it. Whoever cancels takes the list, and from then on nobody may leave "
                + "anything there. Each of these is one step.",
            "The step ends before anybody is called. What is to be called leaves it as a value.",
            "A registration has to find its observer again, and not keep it. A number that is "
                + "never used twice will do; a place in an array is another one's place after the "
                + "next withdrawal.",
        ],
        afterword:
            "A flag and a dictionary behind one lock; a promise inside, which has won this race "
            + "already; or a cell for each observer that can be emptied once, so that it does not "
            + "matter if both threads reach for it. PromiseOperators has the promise: "
            + "Cancellation.swift. (C++ has the same pair as `stop_source` and "
            + "`stop_token`, and there withdrawing even waits for an observer that is running.)",
        forbidden: SourceRules.sentAway
            + SourceRules.finished("CancellationSource", "CancellationToken"),
        requirements: CancellationRequirements.all)
}

private enum CancellationRequirements {
    typealias Answer = any CancellationAnswer

    static let all: [Requirement] = [
        .oneThread(
            "E11.1", "observers are called",
            "Some observers are registered, or none, and then it is cancelled. Each is called "
                + "once, and not before; and whoever asks is told no before, and yes after.",
            asking:
                "What has `onCancel` left for `cancel` to find, and what does `cancel` leave "
                + "behind for those who ask?",
            with: Answer.self, { try called($0) }),
        .oneThread(
            "E11.2", "too late",
            "An observer is registered when it has been cancelled. It has to be called at once.",
            asking: "Who calls an observer that comes after all others have been called?",
            with: Answer.self, { try late($0) }),
        .oneThread(
            "E11.3", "cancelled twice",
            "It is cancelled three times, with observers registered in between.",
            asking: "What does the second call of `cancel` find, and what should it?",
            with: Answer.self, { try cancelledAgain($0) }),
        .oneThread(
            "E11.4", "withdrawn",
            "Some of several observers are withdrawn, in this order and that, and one of them "
                + "twice. Those are not called, and the others are.",
            asking: "How does a registration find its own observer, after others have gone?",
            with: Answer.self, { try withdrawn($0) }),
        .oneThread(
            "E11.5", "an observer that comes back",
            "An observer asks, registers another one, cancels again, and withdraws itself. It is "
                + "told yes, and the other one is called.",
            asking:
                "Observers are called in the middle of something. What do you hold in that moment, "
                + "and what is still to be done?",
            with: Answer.self, { try comesBack($0) }),
        .oneThread(
            "E11.6", "nothing is kept",
            "Observers are called, withdrawn, or dropped together with the source. What they have "
                + "captured must be freed, even if somebody keeps the registrations.",
            asking: "Who still holds an observer when it has been called? And who holds whom, when "
                + "nothing has happened at all?",
            with: Answer.self, { try nothingIsKept($0) }),
        .oneThread(
            "E11.7", "who lives on",
            "The source is dropped, cancelled or not, and the token lives on; then the token is "
                + "dropped, and a registration lives on. What was true remains true, observers "
                + "that come too late are called, and to withdraw harms nobody.",
            asking: "Where is it written that it has been cancelled, and who keeps that alive?",
            with: Answer.self, { try livesOn($0) }),
        .unwatched(
            "E11.8", "registrations that are dropped",
            "Many observers are registered, and nobody keeps the registrations. When it is "
                + "cancelled, all of them are called.",
            asking: "By what do you tell two observers apart, and can two of them be alike in it?",
            with: Answer.self, { try calledThoughDropped($0) }),
        .scenario(
            "E11.9", "cancel ∥ onCancel",
            "One thread cancels while another one registers an observer; one is registered "
                + "already. Early or late, each is called, once.",
            asking: "At the marked step, what does the one thread believe that the other has made "
                + "untrue?",
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
                "Both threads want to be the one who calls. Where is it decided which of them is?",
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
            "One thread cancels while another one withdraws an observer. It may be called or not; "
                + "the other one has to be.",
            asking: "What does a thread that withdraws touch, and who else may be touching it?",
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
            scenario.expect("called", .acceptable, "it was cancelled first")
            scenario.expect("not called", .acceptable, "it was withdrawn first")
        },
        .scenario(
            "E11.12", "onCancel ∥ onCancel",
            "Two threads register an observer each. When it is cancelled, both are called.",
            asking:
                "Both threads change the list. What is to keep the second out while the first is "
                + "in the middle of it?",
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
            "One thread registers an observer while another one withdraws his. When it is "
                + "cancelled, the one is called, and not the other.",
            asking:
                "Both threads change the list. What is to keep the second out while the first is "
                + "in the middle of it?",
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
            "Two threads withdraw the same observer. When it is cancelled, that one is not called, "
                + "and the other one is.",
            asking:
                "What does a registration change in itself when it is withdrawn, and may two "
                + "threads do so?",
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
            "One thread cancels while another one asks. Either answer is right; the question must "
                + "be safe.",
            asking: "Somebody only reads. What keeps the writer out meanwhile?",
            with: Answer.self
        ) { scenario, answer in
            let pair = answer.pair()
            let answers = Log<Bool>()
            scenario.thread("canceller") { pair.cancel() }
            scenario.thread("worker") {
                let isCancelled = pair.isCancelled
                answers.append(isCancelled, isCancelled ? "hears yes" : "hears no")
            }
            scenario.check {
                if !pair.isCancelled {
                    throw Fault("wrong value", "it has been cancelled, and says that it has not")
                }
            }
            scenario.outcome { answers.entries == [true] ? "yes" : "no" }
            scenario.expect("yes", .acceptable, "it was cancelled first")
            scenario.expect("no", .acceptable, "it was asked first")
        },
        .scenario(
            "E11.16", "an observer that waits",
            "An observer waits until another thread has asked, and registered and withdrawn an "
                + "observer of its own.",
            asking:
                "A lock that lets its own thread in again helps nobody else. Who else wants in "
                + "while an observer runs?",
            with: Answer.self
        ) { scenario, answer in
            let pair = answer.pair()
            let bell = DispatchSemaphore(value: 0)
            _ = pair.onCancel { bell.wait() }
            scenario.thread("canceller") { pair.cancel() }
            scenario.thread("worker") {
                _ = pair.isCancelled
                pair.onCancel {}()
                bell.signal()
            }
        },
        .oneThread(
            "E11.18", "a `deinit` that asks",
            "What an observer has captured is freed, because it was called, withdrawn, or came too "
                + "late. Its `deinit` asks the token, and registers another observer.",
            asking:
                "At which line does the last one let go of an observer, and what do you hold there?",
            with: Answer.self, { try askedByDeinit($0) }
        ).alsoRunOptimized,
        .scenario(
            "E11.19", "withdraw, and a `deinit` that waits",
            "One thread withdraws an observer. The `deinit` of what that has captured waits until "
                + "another thread has asked, and registered an observer of its own.",
            asking:
                "A lock that lets its own thread in again helps nobody else. Who else wants in "
                + "while an observer is freed?",
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
            "One thread cancels. The `deinit` of what an observer has captured waits until another "
                + "thread has asked, and registered an observer of its own.",
            asking:
                "When `cancel` has called an observer, who lets go of it, and what is held meanwhile?",
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
            "Two threads do everything that can be done, with a source each. Neither should have "
                + "to wait for the other.",
            asking: "How many locks are there when there are a thousand sources?",
            with: Answer.self,
            first: { useAlone($0) }, second: { useAlone($0) }),
    ]

    /// Which observers were called, in which order.
    private final class Calls: Sendable {
        private let log = Log<String>()

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
                throw Fault("too early", "'\(early)' is called before anybody has cancelled")
            }
            if pair.isCancelled {
                throw Fault("wrong value", "it says yes, and nobody has cancelled")
            }
            pair.cancel()
            for name in names { try calls.expectOnce(name) }
            if !pair.isCancelled {
                throw Fault("wrong value", "it has been cancelled, and says that it has not")
            }
        }
    }

    /// Nobody keeps the registrations: so there are many observers, and all of them in one place.
    private static func calledThoughDropped(_ answer: Answer) throws {
        let (pair, calls) = (answer.pair(), Log<Int>())
        let observer = { @Sendable in calls.append(1) }
        let count = 30
        for _ in 0..<count { _ = pair.onCancel(observer) }
        pair.cancel()
        let made = calls.entries.count
        guard made != count else { return }
        throw Fault(
            made < count ? "lost" : "twice",
            "\(count) observers are registered, nobody keeps the registrations, and \(made) are "
                + "called")
    }

    private static func late(_ answer: Answer) throws {
        for count in 0...2 {
            let (pair, calls) = (answer.pair(), Calls())
            for number in 0..<count { calls.observe(pair, "observer \(number)") }
            pair.cancel()
            for name in ["late", "later"] {
                let withdraw = calls.observe(pair, name)
                try calls.expectOnce(name, when: "when it has registered")
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
                    try calls.expectNone("observer \(number)", when: "after it was withdrawn")
                } else {
                    try calls.expectOnce("observer \(number)", when: "after others were withdrawn")
                }
            }
            try calls.expectOnce("newcomer", when: "after others were withdrawn")
            withdrawals[gone[0]]()
        }
    }

    private static func comesBack(_ answer: Answer) throws {
        let (pair, calls) = (answer.pair(), Calls())
        let withdrawals = Log<() -> Void>()
        let answers = Log<Bool>()
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
            throw Fault("wrong value", "an observer is called, asks, and is told no")
        }
        _ = pair.onCancel { pair.cancel() }
        try calls.expectOnce("registered inside", "beside")
    }

    private static func nothingIsKept(_ answer: Answer) throws {
        try expectFreed("it was called, and what it has captured is still there") { pair, observe in
            let withdraw = observe()
            pair.cancel()
            return withdraw
        }
        try expectFreed("it came late, and what it has captured is still there") { pair, observe in
            pair.cancel()
            return observe()
        }
        try expectFreed("it was withdrawn, and what it has captured is still there") { _, observe in
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
        try expectGone(captured, "source and token have been dropped, and keep an observer alive")

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

    /// Something to be captured, which says farewell.
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
                "called, as it came too late",
                { pair, observe in
                    pair.cancel()
                    return observe()
                }
            ),
        ]
        for (when, run) in ways {
            let (pair, farewells) = (answer.pair(), Log<Int>())
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
                    "kept alive", "an observer was \(when), and what it captured is not freed")
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
                        isCancelled ? "has been cancelled, and says that it has not" : "says yes"
                    throw Fault("wrong value", "the source is gone; the token \(said)")
                }
            }
            for withdraw in withdrawals { withdraw() }
            if isCancelled {
                try calls.expectOnce("early", "late", when: "when the source is gone")
            } else {
                try calls.expectNone("early", "late", when: "when nobody has cancelled")
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
