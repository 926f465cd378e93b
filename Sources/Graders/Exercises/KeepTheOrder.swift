import Dispatch
import RaceLab
import SharedSuite

extension Exercise {
    static let keepTheOrder = Exercise(
        7, "Keep the order across a settle", chapter: 5, adapter: "Promise", "ThePromise",
        hints: [
            "There are more than two moments in the life of this promise. Between which two of "
                + "them is it wrong to call a newcomer at once, though the outcome is known?",
            "At such a moment a newcomer may neither be called, nor wait, nor be forgotten. What "
                + "is left that `observe` could do with the handler, and who would have to know "
                + "of it?",
            "At any time at most one thread may be calling the handlers of a promise. Where is it "
                + "written down that there is one, and under what is that looked at?",
            "Whoever calls handlers looks for the next one again and again, and at last finds "
                + "nobody. What has to become true in the very same piece of locked work?",
            "Go through it for who comes late, too: the promise is settled, and nobody is "
                + "calling. He is called at once; but what if somebody else registers meanwhile?",
        ],
        afterword:
            "It takes one more thing that is known under the lock: whose duty the waiting "
            + "handlers are. It can be a third state of the promise, as in Stage 3, or a flag; "
            + "the list itself, if whoever is being called stays on it until he has returned; a "
            + "counter of those who asked for deliveries, raised from 0 by the one who delivers; "
            + "or a list that is closed by the one who finds it empty. What they have in common "
            + "is that \"nobody is left\" and \"nobody is calling any more\" are one step. A "
            + "second lock around the calls keeps the order as well, and deadlocks at the first "
            + "handler that waits.",
        forbidden: SourceRules.sentAway + SourceRules.finishedThing,
        requirements: [
            .catalogue("H01", asking: "Who calls a handler that comes after the outcome?"),
            .catalogue("H04", asking: "What does the second call of `resolve` find, and do?"),
            .catalogue("H05", asking: "What does `reject` find when the promise is fulfilled?"),
            .catalogue("H06", asking: "Which promise hears of an error that a function throws?"),
            .catalogue("H09", asking: "In which order does the list hold the handlers?"),
            .catalogue("H13", asking: "Who still holds the handler, once it has been called?"),
            .catalogue(
                "H08",
                asking: "The third handler arrives while the first is running. Where is the second "
                    + "at that time, and what does `observe` know of it?"),
            .isHeardThoughDropped("E07.10"),
            .usesItsOwnPromise("E07.1"),
            .hundreds("E07.12"),
            .anyValue("E07.13"),
            .catalogue(
                "R06",
                asking: "At the step at which the second handler arrives, who holds the first one, "
                    + "and how could one tell?"),
            .scenario(
                "E07.2", "fill in, send, thank",
                "The first handler fills in a form. While the promise is fulfilled, another "
                    + "thread registers a second handler, which sends the form, and a third one. "
                    + "Each has to have returned before the next is called.",
                asking:
                    "Three handlers, and two moments at which somebody may come in between. What "
                    + "has been written down at the second of them?",
                with: (any PromiseAnswer).self
            ) { describeForm($0, $1.promise) },
            .scenario(
                "E07.3", "one after the other, on two threads",
                "A promise is rejected, which has a handler at the end of a chain. Another thread "
                    + "registers a second one with `error`, and when that has returned, a third "
                    + "thread a third one, at the end of a chain again.",
                asking: "The second handler was put where? Does whoever registers the third see it "
                    + "there, or at least that there is one?",
                with: (any PromiseAnswer).self
            ) { describeRelay($0, $1.promise) },
            .scenario(
                "E07.4", "registered inside, and from outside",
                "A handler registers another on the same promise, while another thread registers "
                    + "one, too. The first one comes first, and all of them are called, once.",
                asking: "Who calls the handlers that two threads leave behind at the same time?",
                with: (any PromiseAnswer).self
            ) { describeInsideAndOutside($0, $1.promise) },
            .scenario(
                "E07.5", "two who come late",
                "The promise is settled, and nobody waits. Two threads each register a handler, "
                    + "and one of these registers another. All three have to be called, once.",
                asking:
                    "Whoever comes late is called at once. What if somebody comes at that moment?",
                with: (any PromiseAnswer).self
            ) { describeTwoLate($0, $1.promise) },
            .catalogue(
                "R01", asking: "Who is responsible for the handler after each step of the table?"),
            .catalogue(
                "R02",
                asking:
                    "Both threads want to settle. What does the second find if it comes while the "
                    + "first is calling handlers?"),
            .catalogue(
                "R03",
                asking: "Two threads settle, each in its own way. Where is it decided which one "
                    + "comes first, and when is that written down?"),
            .catalogue(
                "R04", asking: "Both threads append to the same list. What keeps them apart?"),
            .catalogue(
                "R05",
                asking:
                    "Follow the handler that goes wrong: who holds it, after which step, and who "
                    + "still knows of it?"),
            .catalogue(
                "R07",
                asking: "Between the two registrations the promise may settle. Does either of them "
                    + "depend on what the other has seen?"),
            .catalogue(
                "R08", asking: "Somebody only reads. What keeps the writer out meanwhile?"),
            .catalogue(
                "R09",
                asking: "The handler waits for the other thread. What is the other thread waiting "
                    + "for, and who has it?"),
            .catalogue(
                "R10",
                asking: "Draw an arrow from each thread to what it waits for, and from that to who "
                    + "holds it. Is there a circle?"),
            .registersInside("E07.11"),
            .goesOnMeanwhile("E07.6"),
            .lateHandlerWaits("E07.7"),
            .farewellWaits("E07.8"),
            .anyValueMeets("E07.14"),
            .noStrangersWait("E07.9"),
        ])
}

extension Scenario.Log<Call> {
    /// Each of these was called once, and in this order.
    fileprivate func requireOrder(_ names: String...) throws {
        for name in names { try require(entries.contains { $0.who == name }, or: .lost) }
        try require(entries.count == names.count, or: .twice)
        try require(entries.map(\.who) == names, or: .outOfOrder)
    }
}

/// Filled in and sent by handlers, without a lock of its own: their order is all that it relies on.
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
