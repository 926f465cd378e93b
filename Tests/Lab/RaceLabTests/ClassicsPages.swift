import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// Pages quote source and output. These tests generate both again and compare them with the page.
///
/// A line `<!-- report: NAME -->` requires the code block below it to be the report on the classic
/// of that name. `table`, `exploration.json`, `trace.json` and `trace.markdown` work
/// the same way; `sampled: every classic that fails` is ``SamplingTable``; `source: FILE: OPENING` names the declaration that begins with that text.
/// With UPDATE_DOCS=1 in the environment the tests rewrite the pages instead.
@Suite("Pages", .needsTheLab)
struct PagesTests {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let pages = folders + ["docs/Found.md", "docs/Sampling.md"]

    private static let folders = ["Lab/RaceLab/RaceLab.docc", "Lab/RaceLab/Classics"].flatMap {
        folder in
        let names =
            (try? FileManager.default.contentsOfDirectory(
                atPath: root.appending(path: folder).path)) ?? []
        return names.filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
    }

    @Test("quote the code and the output of the lab exactly", arguments: pages)
    func isTrue(_ page: String) throws {
        let url = PagesTests.root.appending(path: page)
        let lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
        let fresh = try Page(lines, path: url.path).made()
        guard fresh != lines else { return }
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
            try fresh.joined(separator: "\n").write(to: url, atomically: true, encoding: .utf8)
            return
        }
        let index =
            zip(lines, fresh).enumerated().first { $1.0 != $1.1 }?.offset
            ?? min(lines.count, fresh.count)
        let has = lines.indices.contains(index) ? lines[index] : "the end"
        let should = fresh.indices.contains(index) ? fresh[index] : "the end"
        Issue.record(
            """
            \(page):\(index + 1) is out of date; UPDATE_DOCS=1 swift test --filter PagesTests \
            rewrites it
                page: \(has)
                code: \(should)
            """,
            sourceLocation: SourceLocation(
                fileID: "RaceLab/\(url.lastPathComponent)", filePath: url.path, line: index + 1,
                column: 1))
    }

    @Test("every classic is on a page, by a name of its own")
    func complete() throws {
        #expect(Set(Classic.all.map(\.name)).count == Classic.all.count)
        let text = try PagesTests.pages.map {
            try String(contentsOf: PagesTests.root.appending(path: $0), encoding: .utf8)
        }.joined()
        for classic in Classic.all {
            #expect(text.contains(": \(classic.name) -->"), "\(classic.name)")
        }
    }

    @Test("an outdated page is reported, with the line")
    func notices() throws {
        let lines = ["# Title", "", "<!-- report: atomic increments -->", "```", "old", "```", ""]
        let fresh = try Page(lines, path: "page").made()
        #expect(fresh[3] == "```")
        #expect(fresh[4] == "survives")
        #expect(fresh.suffix(2) == ["```", ""])
        #expect(try Page(fresh, path: "page").made() == fresh)
    }

    @Test(
        "a page that refers to something missing is refused",
        arguments: [
            "<!-- report: no such classic -->", "<!-- source: NoSuchFile.swift: func -->",
            "<!-- source: ClassicsPages.swift: no such declaration -->",
        ])
    func refuses(marker: String) {
        #expect(throws: Scenario.CheckFailure.self) {
            try Page([marker, "```", "```"], path: "page").made()
        }
    }
}

private struct Page {
    let lines: [String]
    let path: String

    init(_ lines: [String], path: String) {
        self.lines = lines
        self.path = path
    }

    /// The page with every block generated again.
    func made() throws -> [String] {
        var made: [String] = []
        var index = 0
        while index < lines.count {
            let line = lines[index]
            made.append(line)
            index += 1
            guard let (kind, subject) = Page.marker(line) else { continue }
            let place = "\(path):\(index)"
            guard index < lines.count, lines[index].hasPrefix("```"),
                let end = lines[(index + 1)...].firstIndex(of: "```")
            else { throw Scenario.CheckFailure("\(place): no block of code follows") }
            made.append(lines[index])
            made += try Page.content(kind, subject, place)
            index = end
        }
        return made
    }

    private static func marker(_ line: String) -> (kind: String, subject: String)? {
        guard line.hasPrefix("<!-- "), line.hasSuffix(" -->"), let colon = line.range(of: ": ")
        else { return nil }
        return (
            String(line[..<colon.lowerBound].dropFirst(5)),
            String(line[colon.upperBound...].dropLast(4))
        )
    }

    private static func content(
        _ kind: String, _ subject: String, _ place: String
    ) throws -> [String] {
        if kind == "source" { return try source(subject, place) }
        if kind == "sampled" { return SamplingTable.lines() }
        guard let classic = Classic.named(subject) else {
            throw Scenario.CheckFailure("\(place): there is no classic '\(subject)'")
        }
        let exploration = classic.exploration()
        let trace = try exploration.counterexample()
        let texts = [
            "report": exploration.text(), "exploration.json": exploration.json,
            "table": trace?.table(), "trace.json": trace?.json,
            "trace.markdown": trace?.markdown,
        ]
        guard let text = texts[kind] ?? nil else {
            throw Scenario.CheckFailure("\(place): there is no \(kind) of '\(subject)'")
        }
        let end = text.hasSuffix("\n") ? text.dropLast() : Substring(text)
        return end.components(separatedBy: "\n")
    }

    /// The declaration that begins with a text, up to its last line.
    private static func source(_ subject: String, _ place: String) throws -> [String] {
        let parts = subject.components(separatedBy: ": ")
        let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: parts[0])
        guard let text = try? String(contentsOf: url, encoding: .utf8) else {
            throw Scenario.CheckFailure("\(place): there is no file \(parts[0])")
        }
        let opening = parts.dropFirst().joined(separator: ": ")
        let lines = text.components(separatedBy: "\n")
        guard let start = lines.firstIndex(where: { $0.drop { $0 == " " }.hasPrefix(opening) })
        else {
            throw Scenario.CheckFailure("\(place): nothing in \(parts[0]) begins with '\(opening)'")
        }
        let margin = String(lines[start].prefix { $0 == " " })
        guard let end = lines[start...].firstIndex(of: margin + "}") else {
            throw Scenario.CheckFailure("\(place): the declaration '\(opening)' does not end")
        }
        return lines[start...end].map { String($0.dropFirst(margin.count)) }
    }
}
