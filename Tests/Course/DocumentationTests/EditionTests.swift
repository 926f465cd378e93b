import Foundation
import SharedSuite
import Testing

/// A document and its Chinese edition say the same: they have the same sections, and in each section
/// the same blocks in the same order, and the same figures, rows, exercises, chapters and commands.
/// Only the labels of diagrams are translated.
@Suite("Editions")
struct EditionTests {
    private static let pairs = [
        ("Tutorial.md", "Tutorial.zh.md"), ("README.md", "README.zh.md"),
    ]

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Commands.package.appending(path: path), encoding: .utf8)
    }

    @Test("the editions of a document agree", arguments: pairs)
    func agree(english: String, chinese: String) throws {
        let differences = Edition.differences(try Self.text(english), try Self.text(chinese))
        for difference in differences { Issue.record("\(chinese): \(difference)") }
    }

    @Test(
        "every row of a table has the cells of its header",
        arguments: pairs.flatMap { [$0.0, $0.1] } + ["Exercises/TEACHING.md"])
    func tables(document: String) throws {
        var header: Int?
        for (line, text) in FencedBlock.prose(of: try Self.text(document)) {
            let cells = text.replacing(/`[^`]*`/, with: "").count { $0 == "|" }
            if text.hasPrefix("|") {
                #expect(cells == header ?? cells && text.hasSuffix("|"), "line \(line)")
                header = header ?? cells
            } else {
                header = nil
            }
            #expect(!text.contains(/^ [^ ]/), "line \(line) begins with a space")
        }
    }

    @Test("the first line of each edition links to the other", arguments: pairs)
    func links(english: String, chinese: String) throws {
        #expect(try Self.text(english).hasPrefix("[中文](\(chinese))\n"))
        #expect(try Self.text(chinese).hasPrefix("[English](\(english))\n"))
    }

    @Test(
        "every link to a place in the same document leads there",
        arguments: pairs.flatMap { [$0.0, $0.1] })
    func places(document: String) throws {
        let text = try Self.text(document)
        let places = FencedBlock.prose(of: text).map(\.text).filter { $0.hasPrefix("#") }.map {
            $0.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
                .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        }
        for match in text.matches(of: /\]\(#([^)]+)\)/) {
            #expect(places.contains(String(match.1)), "\(document) has no place \(match.1)")
        }
    }

    private static let english = """
        [中文](b.md)
        # Title
        ## One
        Exercise 5 in chapter 4 loses a handler (R01), with `swift run promise-lab show R01`, in 23
        interleavings.
        <!-- figures: 23 = every R01 1 -->
        ![](docs/Pictures/square.svg)
        ```text
        the block
        ```
        ```mermaid
        pending --> settled: settle, without handlers
        first["first promise"] --> next
        ```
        | a |
        """
    private static let chinese = """
        [English](a.md)
        # 标题
        ## 一
        练习 5（第 4 章）丢失一个处理函数（R01）：`swift run promise-lab show R01`，共 23 种交错。
        <!-- figures: 23 = every R01 1 -->
        ![](docs/Pictures/square.zh.svg)
        ```text
        the block
        ```
        ```mermaid
        pending --> settled: 敲定，没有处理函数
        first["第一个 Promise"] --> next
        ```
        | 甲 |
        """

    @Test(
        "planted differences are found",
        arguments: [
            ("", "", 0), ("练习 5", "练习 6", 1), ("第 4 章", "第 3 章", 1), ("R01）", "R02）", 1),
            ("show R01", "show", 1), ("the block", "another block", 1), ("## 一\n", "", 1),
            ("figures: 23", "figures: 24", 1), ("square.zh", "r01", 1), ("| 甲 |\n", "", 0),
            ("| 甲 |", "| 甲 |\n| 乙 |", 1), ("共 23 种", "共二十三种", 1),
            ("敲定，没有处理函数", "settle, without handlers", 1), ("第一个 Promise", "链头", 1),
            ("--> settled", "--> draining", 1),
        ])
    func finds(old: String, new: String, count: Int) {
        let text = old.isEmpty ? Self.chinese : Self.chinese.replacing(old, with: new)
        #expect(Edition.differences(Self.english, text).count == count)
    }
}

/// What two editions of a document must have in common.
private struct Edition {
    private struct Section {
        let heading: String
        let facts: [(name: String, values: [String])]
    }

    /// Sentences about the differences, at most one for each kind and section.
    static func differences(_ first: String, _ second: String) -> [String] {
        let (first, second) = (sections(of: withChineseLabels(first)), sections(of: second))
        guard first.count == second.count else {
            return ["there are \(second.count) sections, not \(first.count)"]
        }
        return zip(first, second).flatMap { english, chinese in
            zip(english.facts, chinese.facts).compactMap { fact, other in
                guard fact.values != other.values else { return nil }
                let missing = fact.values.filter { !other.values.contains($0) }
                let extra = other.values.filter { !fact.values.contains($0) }
                return "'\(chinese.heading)': \(fact.name): missing \(missing), extra \(extra)"
            }
        }
    }

    /// A text with Chinese labels in its diagrams: after a colon, or in brackets and quotes.
    private static func withChineseLabels(_ text: String) -> String {
        var isDiagram = false
        return text.components(separatedBy: "\n").map { line in
            if line.hasPrefix("```") { isDiagram = line == "```mermaid" }
            guard isDiagram else { return line }
            return line.replacing(/(: |\[")([^"]+)/) { match in
                let label = String(match.2)
                return "\(match.1)\(ChineseLabels.diagrams[label] ?? "(no label for '\(label)')")"
            }
        }.joined(separator: "\n")
    }

    private static func sections(of text: String) -> [Section] {
        var sections: [[String]] = [[]]
        var isInside = false
        for line in text.components(separatedBy: "\n") {
            if line.hasPrefix("```") { isInside.toggle() }
            if !isInside, line.hasPrefix("#") { sections.append([]) }
            sections[sections.count - 1].append(line)
        }
        return sections.map(section)
    }

    private static func section(_ lines: [String]) -> Section {
        let text = lines.joined(separator: "\n")
        let prose = FencedBlock.prose(of: text).map(\.text)
        let words = prose.filter {
            !$0.hasPrefix("<!--") && !$0.hasPrefix("[中文]") && !$0.hasPrefix("[English]")
        }
        .joined(separator: " ")
        let code = words.matches(of: /`([^`]+)`/).map { String($0.1) }
        let plain = words.replacing(/`[^`]*`|\]\([^)]*\)|\b[HRC]\d\d\b/, with: "")
        return Section(
            heading: lines.first ?? "",
            facts: [
                (
                    "blocks",
                    FencedBlock.blocks(in: text).map { block in
                        ([block.words.joined(separator: " ")] + block.body).joined(separator: "\n")
                    }
                ),
                ("rows", sorted(words.matches(of: /\b[HRC]\d\d\b/).map { String($0.0) })),
                ("exercises", sorted(TutorialCheck.exercises(in: words).map(String.init))),
                ("chapters", sorted(TutorialCheck.chapters(in: words).map(String.init))),
                (
                    "figures",
                    sorted(
                        plain.matches(of: /[0-9](?:[0-9,.]*[0-9])/).map { String($0.0) })
                ),
                (
                    "origins",
                    sorted(
                        prose.flatMap { TutorialCheck.origins(in: $0) }
                            .map { "\(TutorialCheck.digits($0.figure)) = \($0.formula)" })
                ),
                (
                    "commands and paths",
                    sorted(code.filter { $0.contains(" ") || $0.contains("/") })
                ),
                (
                    "pictures and pages",
                    sorted(
                        words.matches(of: /\]\(([^)]+)\)/).map {
                            String($0.1.replacing(".zh.", with: ".").replacing(/#.*/, with: "#"))
                        })
                ),
                ("rows of tables", ["\(prose.count { $0.hasPrefix("|") })"]),
            ])
    }

    /// Without duplicates.
    private static func sorted(_ values: [String]) -> [String] { Set(values).sorted() }
}
