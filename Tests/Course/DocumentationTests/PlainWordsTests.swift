import Foundation
import SharedSuite
import Testing

/// Every sentence for readers is in plain words.
@Suite("Plain words")
struct PlainWordsTests {
    /// Files, and folders with all their files.
    private static let places = [
        "Course", "Exercises", "Lab", "Package.swift", "README.md", "README.zh.md", "Sources",
        "Tests/Promises", "Tests/SharedSuite", "Tutorial.md", "Tutorial.zh.md", "docs",
    ]

    private static let extensions = ["md", "swift", "c", "h", "js"]

    private static func files(_ place: String) throws -> [String] {
        let url = Commands.package.appending(path: place)
        guard try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true else {
            return [place]
        }
        return try FileManager.default.subpathsOfDirectory(atPath: url.path)
            .filter { path in extensions.contains { path.hasSuffix(".\($0)") } }
            .sorted().map { "\(place)/\($0)" }
    }

    @Test("no sentence is hard to read because of a habit", arguments: places)
    func plain(place: String) throws {
        let files = try Self.files(place)
        try #require(!files.isEmpty)
        for file in files {
            let text = try String(
                contentsOf: Commands.package.appending(path: file), encoding: .utf8)
            let sentences =
                file.hasSuffix(".md") ? Self.prose(of: text) : PlainWords.sentences(ofSource: text)
            for complaint in PlainWords.complaints(about: sentences) {
                Issue.record("\(file): \(complaint)")
            }
        }
    }

    /// The prose of a page, each line at its place.
    private static func prose(of text: String) -> String {
        var lines = text.components(separatedBy: "\n").map { _ in "" }
        for (line, text) in FencedBlock.prose(of: text) { lines[line - 1] = text }
        return lines.joined(separator: "\n")
    }

    @Test(
        "planted sentences are found",
        arguments: [
            ("Whoever wants the lock waits.", 1),
            ("Who wants it while another one holds it has to wait.", 1),
            ("Nobody reads the list again.", 1),
            ("The handler is to be called once.", 1),
            ("What stands behind the dollar sign is a command.", 1),
            ("The end of the chain hears the error.", 1),
            ("The test complains.", 1),
            ("From here on every way fails.", 1),
            ("A chapter that mends something.", 1),
            ("It was true no more.", 1),
            ("It waits for ever.", 1),
            ("One thread fulfils the promise.", 1),
            ("A handler that over-synchronises.", 1),
        ])
    func finds(sentence: String, count: Int) {
        #expect(PlainWords.complaints(about: sentence).count == count)
        let source = "let nobody = 1  // \(sentence)\n/// \(sentence)\nlet who = \"\(sentence)\""
        let found = PlainWords.complaints(about: PlainWords.sentences(ofSource: source))
        #expect(found.map(\.line) == [1, 2, 3])
    }

    @Test(
        "plain sentences pass",
        arguments: [
            "A thread that wants a lock held by another thread waits.", "Who notices, and when?",
            "The promise is fulfilled.", "The recommended order.", "Whatever the lab cannot see.",
            "`whoever` is a variable.", "People who use it twice.",
        ])
    func passes(sentence: String) {
        #expect(PlainWords.complaints(about: sentence) == [])
    }
}
