import RaceLab

struct R06: Race {
    let id = "R06"
    let name = "order across a settlement"
    let title = "A second handler is registered while the first one is called"
    let story =
        "A handler is registered. Then one thread fulfills the promise while another "
        + "registers a second handler. The second handler must not be called before the first."

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        let (promise, resolve, _) = P.pending()
        let log = Scenario.Log<Call>()
        promise.listen("first handler", log)
        scenario.thread("resolver") { resolve(1) }
        scenario.thread("subscriber") { promise.listen("second handler", log) }
        scenario.check {
            try log.requireOnce("first handler", "second handler")
            try require(
                log.entries.map(\.who) == ["first handler", "second handler"], or: .outOfOrder)
        }
        scenario.show(promise)
    }
}

struct R07: Race {
    let id = "R07"
    let name = "then, error ∥ reject"
    let title = "One thread registers two handlers while the promise is rejected"
    let story =
        "One thread attaches a chain with `then` and next calls `error` on the same promise, "
        + "while another rejects it. The chain and `error` must both receive the error, once."

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        let (promise, _, reject) = P.pending()
        let log = Scenario.Log<Call>()
        scenario.thread("subscriber") {
            promise.mapping { $0 }.ending { log.append(Call(who: "chain", what: "\($0)")) }
            promise.ending { log.append(Call(who: "error", what: "\($0)")) }
        }
        scenario.thread("rejecter") { reject(Sent("no")) }
        scenario.check { try log.requireOnce("chain", "error") }
        scenario.show(promise)
    }
}

struct R12: Race {
    let id = "R12"
    let name = "adopt ∥ settle the inner"
    let title = "A handler returns a promise that another thread fulfills"
    let story =
        "A function passed to `then` returns a promise. While the chain adopts it, another "
        + "thread fulfills it. The chain must continue with its value, once."

    func whatIsMissing(from subject: Subject) -> String? {
        subject.flatteningType == nil ? withoutFlattening : nil
    }

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        guard let flattening = promise as? any FlatteningPromise.Type else { return }
        setUp(scenario, flattening: flattening)
    }

    private func setUp<P: FlatteningPromise>(_ scenario: Scenario, flattening: P.Type) {
        let (outer, resolveOuter, _) = P.pending()
        let (inner, resolveInner, _) = P.pending()
        let log = Scenario.Log<Call>()
        outer.flatMapping { _ in inner }.listen("chain", log)
        scenario.thread("outer") { resolveOuter(1) }
        scenario.thread("inner") { resolveInner(2) }
        scenario.check {
            try log.requireOnce("chain")
            try require(log.entries[0].what == "2", or: .wrongValue)
        }
        scenario.show(inner)
    }
}
