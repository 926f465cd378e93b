import Foundation
import Graders
import SharedSuite
import Testing

/// How the two manifests treat a student's files.
@Suite("The manifests")
struct ManifestTests {
    @Test("no target of the root package compiles a file from Exercises")
    func root() throws {
        let paths = try Commands.targets(ofPackageIn: ".").map { $0.path ?? "Sources/\($0.name)" }
        #expect(paths.contains("Sources/Stage1Naive"))
        #expect(!paths.contains { $0.hasPrefix("Exercises") })
    }

    @Test("the root package has few targets besides the steps")
    func count() throws {
        let targets = try Commands.targets(ofPackageIn: ".")
            .filter { $0.path?.hasPrefix("Sources/Steps/") != true }
        #expect(targets.count <= 24, "the root package has \(targets.count) targets")
    }

    @Test("in Exercises each file of the workbook is a separate module, started or not")
    func workbook() throws {
        let targets = try Commands.targets(ofPackageIn: "Exercises")
        #expect(targets.allSatisfy { $0.path == "Workbook" && $0.sources == ["\($0.name).swift"] })
        #expect(targets.map(\.name).sorted() == Exercise.all.map(\.name))
    }
}
