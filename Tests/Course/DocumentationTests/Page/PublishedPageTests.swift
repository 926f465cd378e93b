import Foundation
import SharedSuite
import Testing

@testable import promise_lab

/// `docs/index.html`, the page that is in the repository.
@Suite(.waitsForProcesses) struct PublishedPageTests {
    private static let file = Commands.package.appending(path: "docs/index.html")

    @Test func `it is small enough, has one race in each line, and is served as it is`() throws {
        let data = try Data(contentsOf: Self.file)
        #expect(data.count <= 800_000)
        let compressed = try Commands.run(
            URL(filePath: "/usr/bin/env"), ["sh", "-c", "gzip -9 -c docs/index.html | wc -c"])
        #expect(
            try #require(
                Int(compressed.output.trimmingCharacters(in: .whitespacesAndNewlines))) <= 200_000)
        let html = String(decoding: data, as: UTF8.self)
        #expect(html.contains("\n<script type=\"application/json\" id=\"race:R01/stage1\">{"))
        #expect(
            FileManager.default.fileExists(
                atPath: Commands.package.appending(path: "docs/.nojekyll").path))
    }

    @Test(.enabled(if: everyCaseIsTested, "it records every race, which takes minutes"))
    func `it is what the sources give`() throws {
        ChildRun.program = Commands.products.appending(path: "promise-lab")
        // What `promise-lab page` does, with the races that other tests need, too.
        let made = try PageCommand.page(of: Catalogue.all, RecordedRaces.exploration).html
        let kept = try String(contentsOf: Self.file, encoding: .utf8)
        let toolchain = try #require(made.firstMatch(of: /"toolchain":"[^"]+"/)).output
        if kept.contains(toolchain) {
            #expect(kept == made, "write it again: promise-lab page --output docs/index.html")
        } else {
            #expect(Self.verdicts(of: kept) == Self.verdicts(of: made))
        }
    }

    @Test func `the command writes the same races`() throws {
        let output = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).html")
        defer { try? FileManager.default.removeItem(at: output) }
        let result = try Commands.promiseLab(["page", "--only", "R01", "--output", output.path])
        #expect(result.status == 0, "\(result.errors)")
        let made = try String(contentsOf: output, encoding: .utf8)
        let kept = Self.verdicts(of: try String(contentsOf: Self.file, encoding: .utf8))
        #expect(Self.verdicts(of: made) == kept.filter { $0.key.hasPrefix("R01/") })
    }

    @Test func `a verdict that differs is noticed`() throws {
        let kept = try String(contentsOf: Self.file, encoding: .utf8)
        let verdicts = Self.verdicts(of: kept)
        #expect(verdicts.count > 150 && verdicts["R01/stage1"] == true)
        let other = kept.replacing("\"failing\":1,", with: "\"failing\":0,", maxReplacements: 1)
        #expect(Self.verdicts(of: other) != verdicts)
    }

    /// For each race, whether it fails.
    private static func verdicts(of html: String) -> [String: Bool] {
        let lines = html.components(separatedBy: "\n")
        let races = lines.compactMap { line in
            line.firstMatch(of: /id="race:([^"]+)">.*"failing":(\d+)/).map {
                (String($0.output.1), $0.output.2 != "0")
            }
        }
        return Dictionary(uniqueKeysWithValues: races)
    }
}
