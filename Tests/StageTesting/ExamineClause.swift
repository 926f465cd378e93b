import SharedSuite
import Testing

/// Tries all cases of a clause of Promises/A+ on a stage, and compares what comes of each with what
/// is documented, in both directions.
public func examine(
    _ clause: APlusClause, on stage: Stage, sourceLocation: SourceLocation = #_sourceLocation
) {
    let results = clause.results(on: stage)
    let documented = results.filter { $0.documented != nil }
    withKnownIssue("documented for \(stage)", sourceLocation: sourceLocation) {
        let failed = documented.filter { !$0.passed && $0.difference == nil }
        guard !failed.isEmpty else { return }
        let names = failed.map(\.name).joined(separator: "; ")
        Issue.record(
            "\(clause) fails in \(failed.count) of \(results.count) cases: \(names)",
            sourceLocation: sourceLocation)
    } when: {
        !documented.isEmpty
    }
    for difference in results.compactMap(\.difference) {
        Issue.record("\(clause) on \(stage): \(difference)", sourceLocation: sourceLocation)
    }
}

/// More cases than the 103 of the largest port known, or the suite has lost some.
public func expectEnoughCases(
    on stage: Stage, sourceLocation: SourceLocation = #_sourceLocation
) {
    let results = APlusClause.allCases.flatMap { $0.results(on: stage) }
    #expect(results.count > 103, sourceLocation: sourceLocation)
    #expect(Set(results.map(\.name)).count > 103, sourceLocation: sourceLocation)
}
