import RaceLab
import XCTest

/// The lab works inside of XCTest as it does inside of Swift Testing.
final class InsideXCTest: XCTestCase {
    private func report(_ options: Options = Options()) throws -> Report {
        if let unavailable { throw XCTSkip(unavailable) }
        return explore(options: options, Classic.lostUpdate.describe)
    }

    func testFindsTheLostUpdate() throws {
        let report = try report()
        XCTAssertNil(report.obstacle)
        XCTAssertEqual(report.extent, .all)
        XCTAssertFalse(report.survives)
        XCTAssertEqual(report.findings.first?.kind, .failedCheck)
        let trace = try XCTUnwrap(try report.counterexample(Classic.lostUpdate.describe))
        XCTAssertEqual(
            try replay(trace.scheduleText, Classic.lostUpdate.describe).schedule, trace.schedule)
    }

    func testIsolatesAnExploration() throws {
        var options = Options()
        options.isolation = .childProcess
        // Not inside of the assertion, for which a test that is skipped has failed.
        let (isolated, other) = (try report(options), try report())
        XCTAssertEqual(isolated.json, other.json)
    }
}
