import RaceLab
import RaceLabTesting
import Testing

/// Incomplete schedules, with which an execution begins.
@Suite("Schedule prefixes", .needsTheLab)
struct BeginningTests {
    private static let describe = Classic.lostUpdate.describe

    @Test(
        "after the prefix, the threads run to their ends, the first one first",
        arguments: [
            ("F", "FFSS", true), ("FS", "FSFS", false), ("S", "SFFS", false), ("SS", "SSFF", true),
            ("FSSF", "FSSF", false),
        ])
    func carriedOn(beginning: String, whole: String, holds: Bool) throws {
        let completed = try Exploration.replay(prefix: beginning, Self.describe)
        #expect(completed.trace.scheduleText == whole)
        #expect(completed.mismatch == nil)
        #expect(completed.trace.findings.allSatisfy { $0.kind != .failedCheck } == holds)
    }

    @Test("with an empty prefix the threads run one after the other")
    func nothing() throws {
        let completed = try Exploration.replay(prefix: Exploration.Schedule([]), Self.describe)
        #expect(completed.trace.scheduleText == "FFSS")
    }

    @Test(
        "a prefix that does not fit is followed up to the mismatch, which is reported",
        arguments: [("FFF", 3, "FFSS"), ("SFFFS", 4, "SFFS"), ("FFSSS", 5, "FFSS")])
    func mismatch(beginning: String, step: Int, whole: String) throws {
        let completed = try Exploration.replay(prefix: beginning, Self.describe)
        #expect(completed.mismatch?.step == step)
        #expect(completed.trace.scheduleText == whole)
    }

    @Test("a text that is not a schedule is refused")
    func malformed() {
        let error = #expect(throws: Exploration.ReplayError.self) {
            try Exploration.replay(prefix: "F?", Self.describe)
        }
        #expect(error?.malformed != nil)
    }
}
