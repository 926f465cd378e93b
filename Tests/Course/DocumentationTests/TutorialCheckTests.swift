import Testing

/// The check of the documents finds planted faults, and names their lines.
@Suite("Tutorial, the check itself")
struct TutorialCheckTests {
    private static let text = """
        A chapter
        ```swift Sources/A.swift
            let one = 1
            let two = 2
        ```
        ```console
        $ count
        1 and 2
        ```
        There are 12 eggs for H01 in `Sources/A.swift`.
        <!-- figures: 12 = dozen -->
        """

    private static let world = TutorialCheck.World(
        file: { $0 == "Sources/A.swift" ? "{\n    let one = 1\n    let two = 2\n}\n" : nil },
        output: { ["count": ["1 and 2"], "fail": ["(ends with status 1)"]][$0.command] },
        compiler: { text, _, _ in text.contains("nonsense") ? "what?" : "" })

    /// The lines of the complaints after one text has been replaced by another.
    private func complaints(_ old: String, _ new: String) throws -> [Int] {
        var check = TutorialCheck(Self.text.replacing(old, with: new), Self.world)
        try check.checkBlocks()
        check.checkFigures { formula, _ in formula == "dozen" ? "12" : nil }
        check.checkNames(
            hazards: ["H01"], exercises: [1], commands: ["grade", "show"], tests: "struct GoodTests"
        )
        return check.complaints.map(\.line)
    }

    @Test(
        "it notices",
        arguments: [
            ("", "", []),
            ("1 and 2", "1 and 3", [8]),
            ("    let two = 2", "    let two = 3", [4]),
            ("    let one = 1", "    let none = 1", [3]),
            ("```swift Sources/A.swift", "```swift Sources/B.swift", [2]),
            ("```swift Sources/A.swift", "```swift", [2]),
            ("`Sources/A.swift`", "`Sources/B.swift`", [10]),
            ("$ count", "$ guess", [7]),
            ("$ count\n1 and 2", "$ fail\n(ends with status 1)", [7]),
            ("1 and 2\n", "…\n", []),
            ("1 and 2\n", "1 and 2\n…\n", []),
            ("1 and 2\n", "1 and 3\n…\n", [8]),
            ("are 12 eggs", "are 13 eggs", [11, 10]),
            ("12 eggs", "twelve eggs", [11]),
            ("12", "twelve", []),
            ("12 = dozen", "12 = score", [11]),
            ("12 = dozen", "12 = chosen", []),
            ("\n<!-- figures: 12 = dozen -->", "", [10]),
            ("A chapter", "![it](docs/none.svg)", [1]),
            ("H01", "H99", [10]),
            ("12", "十二", []),
            ("are 12 eggs", "are 十一 eggs", [11]),
            ("eggs", "chapter 14", []),
            ("eggs", "chapters 0 to 5 and 14", []),
            ("eggs", "第 14 章", []),
            ("eggs", "练习 1", []),
            ("eggs", "练习 1 和 2", [10]),
            ("eggs", "练习 1 到 3", [10, 10]),
            ("eggs", "Exercises 1", []),
            ("eggs", "Exercises 1 and 2", [10]),
            ("eggs", "exercises 1 to 3", [10, 10]),
            ("eggs", "`promise-lab grade 4`", [10]),
            ("eggs", "`promise-lab dance`", [10]),
            ("eggs", "`swift run promise-lab show H77 --stage 1`", [10, 10]),
            ("eggs", "`swift test --filter BadTests`", [10]),
            ("eggs", "`swift test --filter GoodTests`", []),
            ("A chapter", "```swift variation it\nnonsense\n```", [1]),
            ("A chapter", "```diff Sources/A.swift\n     let one = 1\n-    let two = 3\n```", [1]),
            ("A chapter", "```diff Sources/A.swift\n     let one = 1\n+    nonsense\n```", [1]),
            ("A chapter", "```diff Sources/A.swift\n     let one = 1\n-    let two = 2\n```", []),
            ("A chapter", "```text\n1 second\n```", []),
            ("A chapter", "```\n1 second\n```", [1]),
        ] as [(String, String, [Int])])
    func notices(old: String, new: String, lines: [Int]) throws {
        let found = try complaints(old, new)
        #expect(found == lines)
    }

    @Test(
        "an excerpt is compared part by part, and corrected part by part",
        arguments: [
            (["a1", "b1", "c1", "d1"], nil, ["a1", "b1", "c1", "d1"]),
            (["a1", "b1"], 2, ["a1", "b1", "c1", "d1"]),
            (["a1", "…"], nil, ["a1", "…"]),
            (["b1", "…"], 0, ["a1", "…"]),
            (["…", "d1"], nil, ["…", "d1"]),
            (["…", "c1"], 1, ["…", "d1"]),
            (["…", "b1", "c1", "…"], nil, ["…", "b1", "c1", "…"]),
            (["…", "b1", "c2", "…"], 2, ["…", "b1", "c1", "…"]),
            (["…", "b2", "…", "d1"], 1, ["…", "b1", "…", "d1"]),
            (["…", "c1", "…", "b1", "…"], 3, ["…", "c1", "…", "b1", "…"]),
            (["…"], nil, ["…"]),
        ] as [([String], Int?, [String])])
    func excerpts(shown: [String], index: Int?, corrected: [String]) {
        let text = ["a1", "b1", "c1", "d1"]
        #expect(Excerpt(shown).difference(from: text)?.index == index)
        #expect(Excerpt(shown).corrected(from: text) == corrected)
    }

    @Test("it corrects blocks, and does not change the prose")
    func corrects() throws {
        let wrong = Self.text.replacing("1 and 2", with: "1 and 3")
            .replacing("let one = 1\n", with: "let one = 1\n    let both = 3\n")
        var check = TutorialCheck(wrong, Self.world)
        try check.checkBlocks()
        #expect(check.complaints.count == 2)
        #expect(check.corrected == Self.text)
    }
}
