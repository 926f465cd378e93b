import Foundation
import RaceLabTesting
import SharedSuite
import Testing

@testable import RaceLab
@testable import promise_lab

/// `promise-lab doctor` shows what the lab observes with the installed toolchain.
@Suite("promise-lab doctor", .needsTheLabElsewhere)
struct DoctorTests {
    @Test("it names the toolchain, and every family")
    func text() throws {
        let result = try Commands.promiseLab(["doctor"])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        for title in ["compiler ", "standard library ", "processor ", "kernel "] {
            let line = try #require(
                result.output.split(separator: "\n").first { $0.hasPrefix(title) })
            #expect(line.split(separator: " ").count > title.split(separator: " ").count)
            #expect(!line.hasSuffix("unknown"))
        }
        #expect(result.output.contains("compiler          Swift 6."))
        let marks = result.output.split(separator: "\n").count { $0.hasPrefix("  ✓ ") }
        #expect(result.output.contains("The lab observes all \(marks) families."))
    }

    @Test("the JSON has the same families")
    func json() throws {
        struct Report: Decodable {
            let kind: String
            let version: Int
            let families: [Exploration.Family]
        }
        let result = try Commands.promiseLab(["doctor", "--format", "json"])
        #expect(result.status == 0)
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        #expect(report.kind == "doctor")
        #expect(report.version == versionOfJSON)
        #expect(report.families == Exploration.families())
    }

    @Test("a family that is not observed is a cross, and status 1")
    func notObserved() {
        func family(_ reason: String?, _ usesAreNoticed: Bool) -> Exploration.Family {
            Exploration.Family(name: "tasks", reason: reason, usesAreNoticed: usesAreNoticed)
        }
        #expect(DoctorCommand.status(of: [family(nil, true)]) == 0)
        #expect(DoctorCommand.status(of: [family(nil, true), family("they end", true)]) == 1)
        let table = DoctorCommand.table(of: [family("they end", true)])
        #expect(table[0] == "  ✗ tasks: they end")
        #expect(table.last?.contains("Code that uses one of them gets no verdict.") == true)
        let blind = DoctorCommand.table(of: [family("they end", false)]).last ?? ""
        #expect(blind.replacing("\n", with: " ").contains("No code gets a verdict."))
    }
}
