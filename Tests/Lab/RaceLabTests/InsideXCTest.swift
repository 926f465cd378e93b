import RaceLab
import RaceLabTesting
import XCTest

/// The lab works in XCTest as it does in Swift Testing.
final class InsideXCTest: XCTestCase {
    override func setUpWithError() throws {
        if let unavailable = Exploration.unavailable { throw XCTSkip(unavailable) }
    }

    func testFindsTheLostUpdate() throws {
        let exploration = explore(Classic.lostUpdate.describe)
        XCTAssertNil(exploration.inconclusive)
        XCTAssertEqual(exploration.coverage, .all)
        XCTAssertFalse(exploration.survives)
        XCTAssertEqual(exploration.findings.first?.kind, .failedCheck)
        let trace = try XCTUnwrap(try exploration.counterexample())
        XCTAssertEqual(try exploration.replay(trace.scheduleText).schedule, trace.schedule)
    }

    func testIsolatesAnExploration() {
        let isolated = explore(options: .isolated, Classic.lostUpdate.describe)
        XCTAssertEqual(isolated.json, explore(Classic.lostUpdate.describe).json)
    }

    func testExpectsThatAScenarioSurvives() {
        expectSurvives(Classic.lockedUpdate.describe)
    }

    #if os(Linux)
        /// The failure of a test whose expectation is wrong.
        private var failure: (words: String, file: String, line: Int)?
        private var isExpectingFailure = false

        override func recordFailure(
            withDescription description: String, inFile filePath: String, atLine lineNumber: Int,
            expected: Bool
        ) {
            if isExpectingFailure {
                failure = (description, filePath, lineNumber)
            } else {
                super.recordFailure(
                    withDescription: description, inFile: filePath, atLine: lineNumber,
                    expected: expected)
            }
        }

        func testShowsTheCounterexampleAtTheCallersLine() throws {
            isExpectingFailure = true
            let exploration = expectSurvives(line: 1234, Classic.lostUpdate.describe)
            isExpectingFailure = false
            let failure = try XCTUnwrap(failure)
            XCTAssertEqual(failure.line, 1234)
            XCTAssertTrue(failure.file.hasSuffix("InsideXCTest.swift"), failure.file)
            let trace = try XCTUnwrap(try exploration.counterexample())
            XCTAssertTrue(failure.words.contains(trace.table()), failure.words)
        }
    #endif
}
