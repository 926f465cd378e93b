import RaceLab
import Testing
import XCTest

/// Explores a scenario, and records an issue at the caller's line unless it survives: every
/// interleaving was explored, and none fails.
///
/// ```swift
/// @Test(.needsTheLab) func withdrawals() {
///     expectSurvives { scenario in
///         let account = Account(balance: 100)
///         scenario.thread("first") { account.withdraw(80) }
///         scenario.thread("second") { account.withdraw(80) }
///         scenario.check { try Scenario.require(account.balance >= 0, "overdrawn") }
///     }
/// }
/// ```
///
/// The issue says what was found and shows the counterexample as a table. In Swift Testing, the
/// counterexample is attached to the test as well, as text and as JSON. In XCTest, the issue is a
/// failure of the test that runs.
///
/// In a test that is isolated to an actor, such as a `@MainActor` one, begin the closure with
/// `{ @Sendable scenario in`: its threads do not run on that actor.
///
/// - Parameters:
///   - options: without any, the exploration stops at the first failure.
///   - allowingPartialCoverage: whether a bound in `options` may leave interleavings unexplored.
/// - Returns: the exploration, for further expectations.
@discardableResult
public func expectSurvives(
    options: Exploration.Options? = nil, allowingPartialCoverage: Bool = false,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column, _ scenario: @escaping @isolated(any) (Scenario) -> Void
) -> Exploration {
    let exploration = explore(options: options ?? .upToFirstFailure, scenario)
    exploration.expectSurvives(
        allowingPartialCoverage: allowingPartialCoverage, fileID: fileID, filePath: filePath,
        line: line, column: column)
    return exploration
}

extension Exploration.Options {
    /// The default options, but for the end: a test that asks only whether code survives needs no
    /// further failure.
    fileprivate static var upToFirstFailure: Self {
        var options = Self()
        options.stopsAtFirstFailure = true
        return options
    }
}

extension Exploration {
    /// Records an issue at the caller's line unless the scenario survives, see
    /// ``expectSurvives(options:allowingPartialCoverage:fileID:filePath:line:column:_:)``.
    public func expectSurvives(
        allowingPartialCoverage: Bool = false, fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
    ) {
        let hasNoFailure = inconclusive == nil && failing == 0
        if survives || allowingPartialCoverage && hasNoFailure { return }
        let trace = Result { try counterexample() }
        record(
            trace,
            Caller(fileID: fileID, filePath: filePath, line: line, column: column))
    }

    private func record(_ trace: Result<Trace?, any Error>, _ caller: Caller) {
        let words = words(trace)
        if let trace = try? trace.get() {
            let location = caller.location
            Attachment.record(words, named: "counterexample.txt", sourceLocation: location)
            Attachment.record(trace.json, named: "counterexample.json", sourceLocation: location)
        }
        caller.record(words)
    }

    /// What was found, and the counterexample.
    private func words(_ trace: Result<Trace?, any Error>) -> String {
        switch trace {
        case .success(let trace?):
            "\(text())\n\(trace.table())\nreplay: \(trace.scheduleText)"
        case .success(nil): text()
        case .failure(let error): "\(text())\nThe counterexample cannot be shown: \(error)"
        }
    }
}

/// The line of the test that contains the expectation.
private struct Caller {
    let fileID: StaticString
    let filePath: StaticString
    let line: UInt
    let column: UInt

    var location: SourceLocation {
        SourceLocation(
            fileID: "\(fileID)", filePath: "\(filePath)", line: Int(line), column: Int(column))
    }

    /// Records an issue of the current test.
    func record(_ words: String) {
        // `Test.current` is `nil` in XCTest, but also on a thread that a Swift Testing test has
        // started. Then both libraries receive the issue, and the one that runs no test ignores it.
        if Test.current == nil {
            XCTFail(words, file: filePath, line: line)
        }
        Issue.record(Comment(rawValue: words), sourceLocation: location)
    }
}

extension Linearizability {
    /// Explores small programs, and records an issue at the caller's line unless all of them are
    /// linearizable: see ``RaceLab/Linearizability/explore(options:)``.
    ///
    /// - Returns: what was explored, for further expectations.
    @discardableResult
    public func expectLinearizable(
        options: Exploration.Options = Exploration.Options(), fileID: StaticString = #fileID,
        filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
    ) -> Result {
        let result = explore(options: options)
        guard !result.isLinearizable else { return result }
        Caller(fileID: fileID, filePath: filePath, line: line, column: column).record(
            result.description)
        return result
    }
}
