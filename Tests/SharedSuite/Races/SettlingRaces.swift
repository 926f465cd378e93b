import RaceLab

struct R01: Race {
    let id = "R01"
    let name = "then ∥ resolve"
    let title = "A handler is registered while the promise is fulfilled"
    let story =
        "One thread registers a handler while another fulfills the promise. In either order, "
        + "the handler must be called, once."

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        let (promise, resolve, _) = P.pending()
        let log = Scenario.Log<Call>()
        scenario.thread("subscriber") { promise.listen("handler", log) }
        scenario.thread("resolver") { resolve(1) }
        scenario.check { try log.requireOnce("handler") }
        scenario.show(promise)
    }
}

struct R02: Race {
    let id = "R02"
    let name = "resolve ∥ resolve"
    let title = "Two threads fulfill one promise"
    let story =
        "Two threads fulfill the promise, with 1 and with 2. One of them wins: the handler "
        + "receives one value, once, and the promise keeps that value."

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        let (promise, resolve, _) = P.pending()
        let log = Scenario.Log<Call>()
        promise.listen("handler", log)
        scenario.thread("first") { resolve(1) }
        scenario.thread("second") { resolve(2) }
        scenario.check {
            try log.requireOnce("handler")
            let kept = SharedSuite.describe(promise.outcome)
            try require(kept == "fulfilled \(log.entries[0].what)", or: .disagrees)
        }
        scenario.show(promise)
    }
}

struct R03: Race {
    let id = "R03"
    let name = "resolve ∥ reject"
    let title = "One thread fulfills the promise, another rejects it"
    let story =
        "One thread fulfills the promise while another rejects it. One of them wins: the "
        + "chain receives the value or the error, not both, and the promise keeps that outcome."

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        let (promise, resolve, reject) = P.pending()
        let log = Scenario.Log<Call>()
        promise.mapping {
            log.append(Call(who: "handler", what: "\($0)"))
            return $0
        }
        .ending { log.append(Call(who: "end of the chain", what: "\($0)")) }
        scenario.thread("fulfiller") { resolve(1) }
        scenario.thread("rejecter") { reject(Sent("no")) }
        scenario.check {
            let (values, errors) = (log.count("handler"), log.count("end of the chain"))
            try require(values + errors > 0, or: .lost)
            try require(values < 2 && errors < 2, or: .twice)
            try require(values + errors == 1, or: .bothKinds)
            let kept = SharedSuite.describe(promise.outcome)
            try require(kept == (values == 1 ? "fulfilled 1" : "rejected 'no'"), or: .disagrees)
        }
        scenario.show(promise)
    }
}
