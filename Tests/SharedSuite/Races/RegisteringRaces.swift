import RaceLab

struct R04: Race {
    let id = "R04"
    let name = "then ∥ then"
    let title = "Two threads each register a handler"
    let story =
        "Two threads each register a handler; then the promise is fulfilled. Both handlers "
        + "must be called, once."

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        let (promise, resolve, _) = P.pending()
        let log = Scenario.Log<Call>()
        scenario.thread("first") { promise.listen("first handler", log) }
        scenario.thread("second") { promise.listen("second handler", log) }
        scenario.check {
            resolve(1)
            try log.requireOnce("first handler", "second handler")
        }
        scenario.show(promise)
    }
}

struct R05: Race {
    let id = "R05"
    let name = "then ∥ then ∥ resolve"
    let title = "Two threads register handlers while a third fulfills the promise"
    let story =
        "Two threads each register a handler while a third one fulfills the promise. Both "
        + "handlers must be called, once."

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        let (promise, resolve, _) = P.pending()
        let log = Scenario.Log<Call>()
        scenario.thread("first") { promise.listen("first handler", log) }
        scenario.thread("second") { promise.listen("second handler", log) }
        scenario.thread("resolver") { resolve(1) }
        scenario.check { try log.requireOnce("first handler", "second handler") }
        scenario.show(promise)
    }
}

/// The scenarios of R01 to R05, with data races as the only failures.
struct R18: Race {
    let id = "R18"
    let name = "data races in R01 to R05"
    let title = "Two threads use the same memory"
    let story =
        "Two accesses to the same memory, at least one of them a write, that nothing orders: "
        + "in any of the scenarios above, whether or not its check fails."

    var failingKinds: Set<Exploration.Finding.Kind> { [.dataRace, .overlap] }

    private var races: [any Race] { [R01(), R02(), R03(), R04(), R05()] }

    var scenarioCount: Int { races.count }

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        R01().setUp(scenario, promise)
    }

    func runExpressible(on subject: Subject) -> Verdict {
        verdict(
            races.map { Explored.exploration(of: $0, on: subject).countingAsFailures(failingKinds) }
        )
    }
}
