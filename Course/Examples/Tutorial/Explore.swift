import RaceLab

/// Explores a scenario, and prints what fails, and an interleaving that does as a table.
@discardableResult
func show(_ describe: @escaping (Scenario) -> Void) throws -> Bool {
    let exploration = explore(describe)
    print(exploration.summary)
    if let counterexample = try exploration.counterexample() {
        print(counterexample.table())
    }
    return exploration.survives
}
