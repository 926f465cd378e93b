import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// A test that explores a scenario in one line.
@Suite("A test expects that a scenario survives", .needsTheLab)
struct ExpectationTests {
    /// The issues that an expectation records, each with the line of the call.
    private func issues(
        _ expectation: (_ line: UInt) -> Void
    ) -> [(words: String, isHere: Bool)] {
        let recorded = Mutex<[Issue]>([])
        let line: UInt = 1234
        withKnownIssue {
            expectation(line)
        } matching: { issue in
            recorded.withLock { $0.append(issue) }
            return true
        }
        return recorded.withLock { issues in
            issues.map { issue in
                let location = issue.sourceLocation
                let isHere =
                    location?.fileName == "ExpectationTests.swift" && location?.line == Int(line)
                return (issue.comments.map(\.rawValue).joined(separator: "\n"), isHere)
            }
        }
    }

    @Test("a failing scenario is an issue at the caller's line, with the counterexample")
    func fails() throws {
        let recorded = issues { line in
            expectSurvives(line: line, Classic.lostUpdate.describe)
        }
        let issue = try #require(recorded.first)
        #expect(recorded.count == 1 && issue.isHere)
        let options = Exploration.Options.with { $0.stopsAtFirstFailure = true }
        let exploration = explore(options: options, Classic.lostUpdate.describe)
        let trace = try #require(try exploration.counterexample())
        #expect(issue.words.contains(exploration.text()))
        let verdict = "first failure in interleaving \(exploration.explored)\n"
        #expect(exploration.text().hasPrefix(verdict))
        #expect(issue.words.contains(trace.table()))
        #expect(issue.words.hasSuffix("replay: \(trace.scheduleText)"))
    }

    @Test("options are honored: without the option, every failure is counted")
    func countsAll() throws {
        let recorded = issues { line in
            expectSurvives(
                options: Exploration.Options(), line: line, Classic.lostUpdate.describe)
        }
        let all = explore(Classic.lostUpdate.describe)
        #expect(recorded.first?.words.contains(all.text()) == true)
        #expect(all.failing > 1)
    }

    @Test("operations that are not linearizable are an issue, with the program and its table")
    func linearizability() throws {
        let counters = Linearizability(
            of: { Counter() }, model: 0,
            operations: [.init("increment()", { $0.value += 1 }, model: { $0 += 1 })])
        let recorded = issues { line in counters.expectLinearizable(line: line) }
        let issue = try #require(recorded.first)
        #expect(recorded.count == 1 && issue.isHere)
        #expect(issue.words.hasPrefix("not linearizable: A: increment() ∥ B: increment()"))
        let constants = Linearizability(
            of: { Counter() }, model: 0, operations: [.init("zero", { _ in 0 }, model: { _ in 0 })])
        #expect(constants.expectLinearizable().isLinearizable)
    }

    @Test("a scenario without a verdict is an issue with the reason")
    func inconclusive() throws {
        let recorded = issues { line in expectSurvives(line: line) { _ in } }
        #expect(recorded.count == 1)
        #expect(recorded.first?.words.contains("the scenario has no threads") == true)
    }

    @Test("an incomplete exploration is an issue, unless it is allowed")
    func partial() {
        let options = Exploration.Options.with { $0.maximumInterleavings = 1 }
        let describe = Classic.lockedUpdate.describe
        let recorded = issues { line in expectSurvives(options: options, line: line, describe) }
        #expect(recorded.first?.words.contains("the first interleaving only") == true)
        expectSurvives(options: options, allowingPartialCoverage: true, describe)
        let failing = issues { line in
            expectSurvives(
                options: options, allowingPartialCoverage: true, line: line,
                Classic.overlap.describe)
        }
        #expect(failing.count == 1)
    }
}
