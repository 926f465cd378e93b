import RaceLab
import XCTest

/// The lab works inside of XCTest as it does inside of Swift Testing.
final class InsideXCTest: XCTestCase {
    private func report(_ options: Exploration.Options = Exploration.Options()) throws
        -> Exploration
    {
        if let unavailable = Exploration.unavailable { throw XCTSkip(unavailable) }
        return explore(options: options, Classic.lostUpdate.describe)
    }

    func testFindsTheLostUpdate() throws {
        let report = try report()
        XCTAssertNil(report.inconclusive)
        XCTAssertEqual(report.coverage, .all)
        XCTAssertFalse(report.survives)
        XCTAssertEqual(report.findings.first?.kind, .failedCheck)
        let trace = try XCTUnwrap(try report.counterexample())
        XCTAssertEqual(
            try Exploration.replay(trace.scheduleText, Classic.lostUpdate.describe).schedule,
            trace.schedule)
    }

    func testIsolatesAnExploration() throws {
        var options = Exploration.Options()
        options.isolation = .childProcess()
        // Not inside of the assertion, for which a test that is skipped has failed.
        let (isolated, other) = (try report(options), try report())
        XCTAssertEqual(isolated.json, other.json)
    }
}
