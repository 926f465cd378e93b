import Dispatch
import RaceLab
import SharedSuite

extension Exercise {
    static let keepTheOrder = Exercise(
        7, "Keep the order across a settle", chapter: 5, adapter: "Promise", "ThePromise",
        hints: [
            "The life of this promise has more than two phases. In which of them may a new "
                + "handler not be called at once, although the outcome is known?",
            "In that phase, a new handler may not be called, may not wait, and may not be "
                + "lost. What else can `observe` do with the handler, and which thread has to "
                + "know of it?",
            "At any time, at most one thread may call the handlers of a promise. Where is "
                + "it stored that a thread does, and under which lock is that read?",
            "The thread that calls handlers looks for the next one repeatedly, and in the "
                + "end finds none. What else has to change in the same critical section?",
            "Check late handlers, too: the promise is settled, and no thread is calling "
                + "handlers. A late handler is called at once; but what if another handler is "
                + "registered in the meantime?",
        ],
        afterword:
            "One more fact must be known under the lock: which thread is responsible for "
            + "the waiting handlers. It can be a third phase of the promise, as in Stage 3, "
            + "or a flag; the list itself, if a handler stays on it until it has returned; a "
            + "counter of requested deliveries, which the delivering thread raises from 0; or "
            + "a list that the thread closes that finds it empty. In all of them, \"no "
            + "handler is left\" and \"no thread is calling\" become true in one step. A "
            + "second lock around the calls also keeps the order, and deadlocks at the first "
            + "handler that waits.",
        forbidden: SourceRules.sentAway + SourceRules.finishedThing,
        requirements: [
            .catalogue(
                "H01",
                asking:
                    "Which line calls a handler that is registered after the promise has settled?"),
            .catalogue(
                "H04", asking: "What does the second call of `resolve` find, and what does it do?"),
            .catalogue("H05", asking: "What does `reject` find when the promise is fulfilled?"),
            .catalogue("H06", asking: "Which promise receives the error that a function throws?"),
            .catalogue("H09", asking: "In which order does the list hold the handlers?"),
            .catalogue("H13", asking: "What still holds the handler after it has been called?"),
            .catalogue(
                "H08",
                asking: "The third handler is registered while the first is running. Where is the "
                    + "second at that time, and what does `observe` know of it?"),
            .isHeardThoughDropped("E07.10"),
            .usesItsOwnPromise("E07.1"),
            .hundreds("E07.12"),
            .anyValue("E07.13"),
            .catalogue(
                "R06",
                asking: "At the step that registers the second handler, where is the first one, "
                    + "and how could `observe` find out?"),
            .scenario(
                "E07.2", "fill in, send, thank",
                "The first handler fills in a form. While the promise is fulfilled, another "
                    + "thread registers a second handler, which sends the form, and a third one. "
                    + "Each must have returned before the next is called.",
                asking:
                    "Three handlers, and two moments at which another thread may run. What "
                    + "has been stored at the second of them?",
                with: (any PromiseAnswer).self
            ) { describeForm($0, $1.promise) },
            .scenario(
                "E07.3", "one after the other, on two threads",
                "A promise with a handler at the end of a chain is rejected. Another thread "
                    + "registers a second handler with `error`, and after that a third thread "
                    + "registers a third one, again at the end of a chain.",
                asking: "Where was the second handler stored? Does the thread that registers the "
                    + "third one find it there, or at least find out that it exists?",
                with: (any PromiseAnswer).self
            ) { describeRelay($0, $1.promise) },
            .scenario(
                "E07.4", "registered inside a handler, and on another thread",
                "A handler registers another one on the same promise, while another thread "
                    + "registers one, too. The first handler is called first, and all of them are "
                    + "called once.",
                asking: "Which thread calls the handlers that two threads add at the same time?",
                with: (any PromiseAnswer).self
            ) { describeInsideAndOutside($0, $1.promise) },
            .scenario(
                "E07.5", "two late handlers",
                "The promise is settled, and no handler waits. Two threads each register a "
                    + "handler, and one of these handlers registers another. All three must be "
                    + "called once.",
                asking:
                    "A late handler is called at once. What if another one is registered at "
                    + "that moment?",
                with: (any PromiseAnswer).self
            ) { describeTwoLate($0, $1.promise) },
            .catalogue(
                "R01",
                asking: "Which thread is responsible for the handler after each step of the table?"),
            .catalogue(
                "R02",
                asking:
                    "Both threads want to settle the promise. What does the second find if "
                    + "it comes while the first is calling handlers?"),
            .catalogue(
                "R03",
                asking: "Two threads settle the promise, one with a value and one with an error. "
                    + "Where is it decided which one is first, and when is that stored?"),
            .catalogue(
                "R04", asking: "Both threads append to the same list. What keeps them apart?"),
            .catalogue(
                "R05",
                asking:
                    "Follow the handler that goes wrong: what holds it, after which step, "
                    + "and which thread still knows of it?"),
            .catalogue(
                "R07",
                asking: "Between the two registrations the promise may settle. Does either of them "
                    + "depend on what the other has seen?"),
            .catalogue(
                "R08", asking: "This thread only reads. What keeps the writer out meanwhile?"),
            .catalogue(
                "R09",
                asking: "The handler waits for the other thread. What does the other thread wait "
                    + "for, and which thread holds it?"),
            .catalogue(
                "R10",
                asking: "Draw an arrow from each thread to what it waits for, and from that to the "
                    + "thread that holds it. Is there a cycle?"),
            .settledAgain("E07.15"),
            .staysUsable("E07.16"),
            .staysFree("E07.17"),
            .registersInside("E07.11"),
            .goesOnMeanwhile("E07.6"),
            .lateHandlerWaits("E07.7"),
            .everyHandlerWaits("E07.18"),
            .farewellWaits("E07.8"),
            .anyValueMeets("E07.14"),
            .noStrangersWait("E07.9"),
        ])
}

extension Scenario.Log<Call> {
    /// Checks that each of these was called once, in this order.
    fileprivate func requireOrder(_ names: String...) throws {
        for name in names { try require(entries.contains { $0.who == name }, or: .lost) }
        try require(entries.count == names.count, or: .twice)
        try require(entries.map(\.who) == names, or: .outOfOrder)
    }
}

/// Modified by one handler and read by another, without a lock: it relies on their order.
private final class Form {
    var text = ""
}

private func describeForm<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
    let (promise, resolve, _) = P.pending()
    let log = Scenario.Log<Call>()
    let form = Form()
    promise.mapping {
        log.append(Call(who: "fill in", what: "\($0)"))
        form.text = "\($0)"
        log.append(Call(who: "filled in", what: form.text))
        return $0
    }
    scenario.thread("resolver") { resolve(3) }
    scenario.thread("subscriber") {
        promise.mapping {
            log.append(Call(who: "send", what: form.text))
            return $0
        }
        promise.listen("thank", log)
    }
    scenario.check {
        try log.requireOrder("fill in", "filled in", "send", "thank")
        try require(log.entries.allSatisfy { $0.what == "3" }, or: .wrongValue)
    }
    scenario.show(promise)
}

private func describeRelay<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
    let (promise, _, reject) = P.pending()
    let log = Scenario.Log<Call>()
    let registered = DispatchSemaphore(value: 0)
    let listen = { (who: String, promise: P) in
        promise.ending { log.append(Call(who: who, what: "\($0)")) }
    }
    listen("first handler", promise.mapping { $0 })
    scenario.thread("rejecter") { reject(Sent("no")) }
    scenario.thread("second") {
        listen("second handler", promise)
        registered.signal()
    }
    scenario.thread("third") {
        registered.wait()
        listen("third handler", promise.mapping { $0 })
    }
    scenario.check {
        try log.requireOrder("first handler", "second handler", "third handler")
        try require(log.entries.allSatisfy { $0.what == "'no'" }, or: .wrongValue)
    }
    scenario.show(promise)
}

private func describeInsideAndOutside<P: PromiseUnderTest>(
    _ scenario: Scenario, _ promise: P.Type
) {
    let (promise, resolve, _) = P.pending()
    let log = Scenario.Log<Call>()
    promise.mapping {
        log.append(Call(who: "first handler", what: "\($0)"))
        promise.listen("inner handler", log)
        return $0
    }
    scenario.thread("resolver") { resolve(4) }
    scenario.thread("subscriber") { promise.listen("outer handler", log) }
    scenario.check {
        try log.requireOnce("first handler", "inner handler", "outer handler")
        try require(log.entries[0].who == "first handler", or: .outOfOrder)
        try require(log.entries.allSatisfy { $0.what == "4" }, or: .wrongValue)
    }
    scenario.show(promise)
}

private func describeTwoLate<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
    let log = Scenario.Log<Call>()
    let promise = P.working { resolve, _ in resolve(5) }
    scenario.thread("one") {
        promise.mapping {
            log.append(Call(who: "one handler", what: "\($0)"))
            promise.listen("inner handler", log)
            return $0
        }
    }
    scenario.thread("other") { promise.listen("other handler", log) }
    scenario.check {
        try log.requireOnce("one handler", "inner handler", "other handler")
        try require(log.entries.allSatisfy { $0.what == "5" }, or: .wrongValue)
    }
    scenario.show(promise)
}
