import Foundation
import RaceLab
import SharedSuite
import StageTesting
import Testing

/// A row of the matrix, on one design.
struct DesignRow: Sendable, CustomTestStringConvertible {
    let id: String
    let design: Design
    var testDescription: String { "\(id) on \(design)" }

    /// All but the chain of a million links, which has tests of its own.
    static let all = Design.allCases.flatMap { design in
        Catalogue.all.map(\.id).filter { $0 != "H12" }.map { DesignRow(id: $0, design: design) }
    }
}

/// The designs of three libraries, held against what is documented of them.
@Suite("The field guide", .serialized)
struct FieldGuideTests {
    @Test("every row, on every design, in both directions", .needsTheLab, arguments: DesignRow.all)
    func row(_ row: DesignRow) throws {
        let hazard = try #require(Catalogue.hazard(row.id))
        let subject = Subject.design(row.design)
        let difference = hazard.run(on: subject).difference(from: hazard.expectation(on: subject))
        #expect(difference == nil, "\(row.id) on \(row.design): \(difference ?? "")")
    }

    @Test("a chain of a million links, on Bolts", .needsAStackOverflow) func boltsChain()
        async throws
    {
        try await examineChain(on: .bolts)
    }

    @Test("a chain of a million links, on PromiseKit", .needsAStackOverflow) func promiseKitChain()
        async throws
    {
        try await examineChain(on: .promiseKit)
    }

    @Test("a chain of a million links, on Google Promises", .needsAStackOverflow) func googleChain()
        async throws
    {
        try await examineChain(on: .google)
    }

    /// Starts a process for each part, and compares what comes of it.
    private func examineChain(on design: Design) async throws {
        let hazard = try #require(Catalogue.hazard("H12"))
        var said: [(name: String, said: String)] = []
        for part in Trial.parts {
            let result = await #expect(
                processExitsWith: .success, observing: [\.standardErrorContent]
            ) { [part = part as String, design = design as Design] in
                _ = Trial.runInThisProcess(part, on: .design(design))
                Issue.record("there is no trial '\(part)'")
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            said.append((part, text))
        }
        let verdict = Trial.verdict(of: said)
        let difference = verdict.difference(from: hazard.expectation(on: .design(design)))
        #expect(difference == nil, "H12 on \(design): \(difference ?? "")")
    }

    @Test("which rows a design is said to fail: all others it survives")
    func theTable() {
        let failing = { (design: Design) in
            Catalogue.all.filter { !$0.expectation(on: .design(design)).reasons.isEmpty }.map(\.id)
        }
        #expect(failing(.bolts) == ["H08", "H10", "H11", "H14", "H15", "R09", "R10", "C01"])
        #expect(failing(.promiseKit) == ["H08", "H12", "H15", "R06", "C01"])
        #expect(failing(.google) == ["H11", "H12", "H15", "C01"])
    }

    @Test("each file stays within 150 lines", arguments: Design.allCases)
    func length(_ design: Design) throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = package.appending(path: "Sources/FieldGuide/\(design.rawValue).swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 <= 150)
    }
}
