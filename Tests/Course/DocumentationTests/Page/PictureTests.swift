import Foundation
import RaceLabTesting
import SharedSuite
import Testing

/// Compares the pictures of the documents with those that the page draws. To write them again, run
/// these tests with `WRITE_PICTURES=1`.
@Suite(
    .serialized, .waitsForProcesses,
    .enabled(
        if: Browser.missing == nil || Browser.isRequired,
        "the pictures are drawn in a browser: \(Browser.missing ?? "")"))
struct PictureTests {
    private static let folder = Commands.package.appending(path: "docs/Pictures")

    /// The name of each picture, and the script that draws it.
    private static let pictures = [
        "opening": "movingPicture()",
        "square": "plainSquare()",
        "r01-stage1": "mapPicture('R01/stage1', 'SRRRSS')",
        "r01-stage2": "mapPicture('R01/stage2', '')",
        "r01-step-a": "mapPicture('R01/stepA', '')",
        "r01-stage3": "mapPicture('R01/stage3', '')",
        "r10-deadlock": "objectsPicture('R10/stepA', 'FS')",
        "h03-chain": "cutChain()",
        "h12-stack": "chainStack()",
        "steps": "strips(arguments[0], arguments[1])",
    ]

    /// The pictures with words, which the Chinese editions show in Chinese. The others have only code.
    private static let chinese = [
        "opening", "square", "r10-deadlock", "h03-chain", "h12-stack", "steps",
    ]

    @Test func `every picture of the documents is what would be drawn now`() async throws {
        let writes = ProcessInfo.processInfo.environment["WRITE_PICTURES"] != nil
        try await Browser.run { browser in
            try await browser.open(BrowserTests.page)
            let script = try String(
                contentsOf: Commands.package.appending(path: "Course/CoursePage/pictures.js"),
                encoding: .utf8)
            try await browser.run(
                """
                const script = document.createElement("script");
                script.textContent = arguments[0];
                document.body.append(script);
                """, [script])
            for (name, script) in Self.editions {
                let drawn = try await browser.text(
                    "pictureFile(\(script))",
                    [Self.rows, Self.columns, ChineseLabels.words, ChineseLabels.names])
                let place = Self.folder.appending(path: "\(name).svg")
                if writes { try drawn.write(to: place, atomically: true, encoding: .utf8) }
                let kept = try? String(contentsOf: place, encoding: .utf8)
                #expect(kept == drawn, "\(name).svg: write it again with WRITE_PICTURES=1")
            }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(names) == Set(Self.editions.keys.map { "\($0).svg" }))
    }

    private static var editions: [String: String] {
        pictures.merging(
            chinese.map { ("\($0).zh", ChineseLabels.script(pictures[$0]!)) },
            uniquingKeysWith: { first, _ in first })
    }

    @Test(
        "a document shows the pictures of its language",
        arguments: ["README.md", "README.zh.md", "Tutorial.md", "Tutorial.zh.md"])
    func languages(document: String) throws {
        let text = try String(
            contentsOf: Commands.package.appending(path: document), encoding: .utf8)
        let shown = text.matches(of: /docs\/Pictures\/([^)]+)\.svg/).map { String($0.1) }
        #expect(!shown.isEmpty)
        for name in shown {
            let isChinese = name.hasSuffix(".zh")
            let hasWords = Self.chinese.contains(name.replacing(".zh", with: ""))
            #expect(isChinese == (hasWords && document.contains(".zh.")), "\(name)")
        }
    }

    // MARK: The steps from Stage 2 to Stage 3

    private static let subjects = [Subject.handlers] + Subject.all(.step) + [.threadSafe]

    private static var columns: [[String: String]] {
        subjects.map { ["id": $0.name, "title": "\($0)"] }
    }

    /// The verdicts that the catalogue documents. Other tests compare them with the lab.
    private static var rows: [[String: Any]] {
        Catalogue.all.map { hazard in
            let cells = subjects.map { subject in
                (subject.name, ["verdict": word(hazard.expectation(on: subject)), "text": ""])
            }
            return [
                "id": hazard.id, "name": hazard.name,
                "cells": Dictionary(uniqueKeysWithValues: cells),
            ]
        }
    }

    private static func word(_ expectation: SharedSuite.Expectation) -> String {
        switch expectation {
        case .survives: "survives"
        case .fails: "fails"
        case .cannotExpress: "cannotExpress"
        }
    }
}
