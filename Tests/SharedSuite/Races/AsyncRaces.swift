import FieldGuide
import RaceLab

// Races for promises with `async` functions. Tasks replace the threads of the other form, and early
// handlers are registered when the promise is created.

protocol AsyncRace: Race, AsyncHazard {
    func setUp<P: AsyncPromise<Int>>(_ scenario: Scenario, awaiting promise: P.Type)
}

extension R01: AsyncRace {
    func setUp<P: AsyncPromise<Int>>(_ scenario: Scenario, awaiting promise: P.Type) {
        let promise = P(handlers: [])
        let log = Scenario.Log<Call>()
        scenario.task("subscriber") { await promise.observe(logging("handler", log)) }
        scenario.task("resolver") { await promise.settle(.success(1)) }
        scenario.check { try log.requireOnce("handler") }
        scenario.show(promise)
    }
}

extension R02: AsyncRace {
    func setUp<P: AsyncPromise<Int>>(_ scenario: Scenario, awaiting promise: P.Type) {
        let log = Scenario.Log<Call>()
        let promise = P(handlers: [logging("handler", log)])
        scenario.task("first") { await promise.settle(.success(1)) }
        scenario.task("second") { await promise.settle(.success(2)) }
        scenario.check {
            try log.requireOnce("handler")
            let kept = SharedSuite.describe(stored(in: promise))
            try require(kept == log.entries[0].what, or: .disagrees)
        }
        scenario.show(promise)
    }
}

extension R03: AsyncRace {
    func setUp<P: AsyncPromise<Int>>(_ scenario: Scenario, awaiting promise: P.Type) {
        let log = Scenario.Log<Call>()
        let promise = P(handlers: [logging("handler", log)])
        scenario.task("fulfiller") { await promise.settle(.success(1)) }
        scenario.task("rejecter") { await promise.settle(.failure(Sent("no"))) }
        scenario.check {
            try require(log.count("handler") > 0, or: .lost)
            try require(log.count("handler") == 1, or: .bothKinds)
            let kept = SharedSuite.describe(stored(in: promise))
            try require(kept == log.entries[0].what, or: .disagrees)
        }
        scenario.show(promise)
    }
}

extension R04: AsyncRace {
    func setUp<P: AsyncPromise<Int>>(_ scenario: Scenario, awaiting promise: P.Type) {
        let promise = P(handlers: [])
        let log = Scenario.Log<Call>()
        scenario.task("resolver") {
            async let first: Void = promise.observe(logging("first handler", log))
            async let second: Void = promise.observe(logging("second handler", log))
            _ = await (first, second)
            await promise.settle(.success(1))
        }
        scenario.check { try log.requireOnce("first handler", "second handler") }
        scenario.show(promise)
    }
}

extension R05: AsyncRace {
    func setUp<P: AsyncPromise<Int>>(_ scenario: Scenario, awaiting promise: P.Type) {
        let promise = P(handlers: [])
        let log = Scenario.Log<Call>()
        scenario.task("first") { await promise.observe(logging("first handler", log)) }
        scenario.task("second") { await promise.observe(logging("second handler", log)) }
        scenario.task("resolver") { await promise.settle(.success(1)) }
        scenario.check { try log.requireOnce("first handler", "second handler") }
        scenario.show(promise)
    }
}

extension R06: AsyncRace {
    func setUp<P: AsyncPromise<Int>>(_ scenario: Scenario, awaiting promise: P.Type) {
        let log = Scenario.Log<Call>()
        let promise = P(handlers: [logging("first handler", log)])
        scenario.task("resolver") { await promise.settle(.success(1)) }
        scenario.task("subscriber") { await promise.observe(logging("second handler", log)) }
        scenario.check {
            try log.requireOnce("first handler", "second handler")
            try require(
                log.entries.map(\.who) == ["first handler", "second handler"], or: .outOfOrder)
        }
        scenario.show(promise)
    }
}

extension R07: AsyncRace {
    func setUp<P: AsyncPromise<Int>>(_ scenario: Scenario, awaiting promise: P.Type) {
        let promise = P(handlers: [])
        let log = Scenario.Log<Call>()
        scenario.task("subscriber") {
            await promise.then { $0 }.observe(logging("chain", log))
            await promise.observe(logging("error", log))
        }
        scenario.task("rejecter") { await promise.settle(.failure(Sent("no"))) }
        scenario.check { try log.requireOnce("chain", "error") }
        scenario.show(promise)
    }
}

extension R08: AsyncRace {
    func setUp<P: AsyncPromise<Int>>(_ scenario: Scenario, awaiting promise: P.Type) {
        let promise = P(handlers: [])
        let log = Scenario.Log<Call>()
        scenario.task("reader") {
            for _ in 1...2 {
                let seen = await promise.result
                log.append(Call(who: "reader", what: SharedSuite.describe(seen)))
            }
        }
        scenario.task("writer") { await promise.settle(.success(1)) }
        scenario.check { try requireAllowed(log.entries.map(\.what)) }
        scenario.show(promise)
    }
}

extension R09: AsyncRace {
    func setUp<P: AsyncPromise<Int>>(_ scenario: Scenario, awaiting promise: P.Type) {
        let (registrations, registered) = AsyncStream.makeStream(of: Void.self)
        let promise = P(handlers: [{ _ in for await _ in registrations { break } }])
        scenario.task("resolver") { await promise.settle(.success(1)) }
        scenario.task("subscriber") {
            await promise.observe { _ in }
            registered.yield()
        }
        scenario.show(promise)
    }
}

extension R18: AsyncRace {
    func setUp<P: AsyncPromise<Int>>(_ scenario: Scenario, awaiting promise: P.Type) {
        R01().setUp(scenario, awaiting: promise)
    }
}

/// A handler that logs what it receives.
private func logging(_ who: String, _ log: Scenario.Log<Call>) -> AsyncHandler<Int> {
    { log.append(Call(who: who, what: SharedSuite.describe($0))) }
}

extension Scenario {
    fileprivate func show(_ promise: some AsyncPromise<Int>) {
        state("result") { SharedSuite.describe(stored(in: promise)) }
        state("handlers") { Stored(of: promise).count("handlers") }
    }
}

/// The outcome that an actor has stored. Reflection reads it without waiting for the actor.
private func stored(in actor: some AsyncPromise<Int>) -> Result<Int, any Error>? {
    for child in Mirror(reflecting: actor).children {
        // The child is the property, or the payload of an enumeration case.
        for value in [child.value] + Mirror(reflecting: child.value).children.map(\.value) {
            if let outcome = value as? Result<Int, any Error> { return outcome }
        }
    }
    return nil
}
