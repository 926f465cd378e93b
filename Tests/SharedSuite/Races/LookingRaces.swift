import RaceLab

struct R08: Race {
    let id = "R08"
    let name = "read ∥ resolve"
    let title = "The result is read while the promise is fulfilled"
    let story =
        "One thread reads the result twice while another fulfills the promise. It may read "
        + "nothing or the value, but never anything else, and never the value before nothing."

    var failingKinds: Set<Exploration.Finding.Kind> { Set(Exploration.Finding.Kind.allCases) }

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        let (promise, resolve, _) = P.pending()
        let log = Scenario.Log<Call>()
        scenario.thread("reader") {
            for _ in 1...2 {
                log.append(Call(who: "reader", what: SharedSuite.describe(promise.outcome)))
            }
        }
        scenario.thread("writer") { resolve(1) }
        scenario.check { try requireAllowed(log.entries.map(\.what)) }
        scenario.show(promise)
    }

    func requireAllowed(_ seen: [String]) throws {
        let allowed = [
            ["pending", "pending"], ["pending", "fulfilled 1"], ["fulfilled 1", "fulfilled 1"],
        ]
        try require(allowed.contains(seen), or: .wrongValue)
    }
}

struct R11: Race {
    let id = "R11"
    let name = "release ∥ resolve"
    let title = "The last reference is released while the promise is fulfilled"
    let story =
        "One thread releases the last reference to a promise while another one, which can "
        + "still settle it, does so. The handler must be called, and all objects must be freed."

    /// The order of releases determines which thread frees the promise, and the lab sees releases
    /// on Linux for x86-64 only. So every order is explored.
    var reduces: Bool { false }

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        let log = Scenario.Log<Call>()
        let owner = Owner<P>()
        weak var freed: P?
        do {
            let (promise, resolve, _) = P.pending()
            promise.listen("handler", log)
            (owner.promise, owner.resolve, freed) = (promise, resolve, promise)
        }
        scenario.thread("owner") { owner.promise = nil }
        scenario.thread("resolver") {
            owner.resolve?(1)
            owner.resolve = nil
        }
        scenario.check {
            try log.requireOnce("handler")
            try require(freed == nil, or: .keptAlive)
        }
    }

    private final class Owner<P: PromiseUnderTest> {
        var promise: P?
        var resolve: P.Resolve?
    }
}
