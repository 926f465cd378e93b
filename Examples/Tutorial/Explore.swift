import RaceLab

/// Explores a scenario, and prints what fails and a table of the shortest way to it.
@discardableResult
func show(_ describe: @escaping (Scenario) -> Void) throws -> Bool {
    let report = explore(describe)
    print(report.summary)
    if let finding = report.findings.first {
        print(try replay(finding.schedule, describe).table())
    }
    return report.survives
}
