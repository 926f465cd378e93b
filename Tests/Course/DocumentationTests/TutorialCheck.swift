import Foundation

/// Compares a document with the sources, the commands and the lab, and collects a complaint with
/// the line of each statement that is not true.
///
/// The words after the opening fence give the kind of a block:
///
/// - `swift PATH` quotes that file, line by line;
/// - `swift variation NAME [MODULE]` compiles, together with the other blocks of that name;
/// - `diff PATH` fits that file, and compiles with the change made;
/// - `console` begins with a command and continues with its output, or with an ``Excerpt`` of it;
/// - `mermaid` is a diagram, and `text` is what no test can compare, such as times.
///
/// A comment at the end of a paragraph says where its figures come from:
/// `<!-- figures: 23 = every R01 1; 20 = measured -->`. After the `=` stands a formula of
/// ``TutorialFigures``, or `measured`, `source` or `chosen` for a figure that cannot be computed.
struct TutorialCheck {
    struct Complaint: Equatable, CustomStringConvertible {
        let line: Int
        let what: String
        var description: String { "line \(line): \(what)" }
    }

    /// The access of a check to files, commands and the compiler.
    struct World: Sendable {
        /// The text of a file of the package, or `nil` if there is none.
        var file: @Sendable (String) -> String?
        /// The output of a command, or `nil` if there is no such command.
        var output: @Sendable (ConsoleBlock) throws -> [String]?
        /// The compiler's errors for a text: in place of a file of the package or, if the path is
        /// empty, as a separate file with a module that it may import.
        var compiler: @Sendable (_ text: String, _ path: String, _ module: String?) throws -> String
    }

    let text: String
    let world: World
    private(set) var complaints: [Complaint] = []
    /// Corrected bodies of blocks, by the line of the opening fence.
    private var corrections: [Int: [String]] = [:]

    init(_ text: String, _ world: World) {
        self.text = text
        self.world = world
    }

    /// The text with corrected blocks, as far as possible. The prose is not changed.
    var corrected: String {
        var lines = text.components(separatedBy: "\n")
        for block in FencedBlock.blocks(in: text).reversed() {
            guard let body = corrections[block.line] else { continue }
            lines.replaceSubrange(block.line..<(block.line + block.body.count), with: body)
        }
        return lines.joined(separator: "\n")
    }

    mutating func checkBlocks() throws {
        var variations: [String: (line: Int, module: String?, text: [String])] = [:]
        for block in FencedBlock.blocks(in: text) {
            switch (block.language, block.words.dropFirst().first) {
            case ("swift", "variation") where block.words.count > 2:
                let name = block.words[2]
                let module = block.words.count > 3 ? block.words[3] : variations[name]?.module
                let before = variations[name]
                variations[name] = (
                    before?.line ?? block.line, module, (before?.text ?? []) + block.body + [""]
                )
            case ("swift", let path?) where path != "variation": quotation(block, path)
            case ("diff", let path?): try difference(block, path)
            case ("console", nil): try console(block)
            case ("mermaid", nil), ("text", nil): break
            default:
                complain(
                    block.line, "nothing says where this block is from: \(block.words)")
            }
        }
        for (name, variation) in variations.sorted(by: { $0.value.line < $1.value.line }) {
            let said = try world.compiler(
                variation.text.joined(separator: "\n"), "", variation.module)
            if said != "" { complain(variation.line, "'\(name)' does not compile: \(said)") }
        }
    }

    mutating func complain(_ line: Int, _ what: String) {
        complaints.append(Complaint(line: line, what: what))
    }

    // MARK: Code

    private mutating func quotation(_ block: FencedBlock, _ path: String) {
        guard let file = world.file(path)?.components(separatedBy: "\n") else {
            return complain(block.line, "there is no file \(path)")
        }
        if Self.position(of: block.body, in: file) != nil { return }
        guard let start = block.body.first.flatMap({ file.firstIndex(of: $0) }) else {
            return complain(block.line + 1, "\(path) has no line '\(block.body.first ?? "")'")
        }
        let found = Array(file[start...].prefix(block.body.count))
        let index = firstDifference(block.body, found) ?? 0
        complain(
            block.line + 1 + index,
            "\(path) says '\(found.indices.contains(index) ? found[index] : "")'")
        if let last = block.body.last, let end = file[start...].firstIndex(of: last) {
            corrections[block.line] = Array(file[start...end])
        }
    }

    private static func position(of lines: [String], in file: [String]) -> Int? {
        guard !lines.isEmpty, lines.count <= file.count else { return nil }
        return (0...(file.count - lines.count)).first { start in
            file[start..<(start + lines.count)].elementsEqual(lines)
        }
    }

    private mutating func difference(_ block: FencedBlock, _ path: String) throws {
        guard var file = world.file(path)?.components(separatedBy: "\n") else {
            return complain(block.line, "there is no file \(path)")
        }
        let before = block.body.filter { !$0.hasPrefix("+") }.map { String($0.dropFirst()) }
        let after = block.body.filter { !$0.hasPrefix("-") }.map { String($0.dropFirst()) }
        guard let start = Self.position(of: before, in: file) else {
            return complain(block.line, "\(path) has no such lines any more")
        }
        file.replaceSubrange(start..<(start + before.count), with: after)
        let said = try world.compiler(file.joined(separator: "\n"), path, nil)
        if said != "" { complain(block.line, "with this change it does not compile: \(said)") }
    }

    // MARK: Output

    /// The beginning of the output of a command that fails. No document shows such output.
    static let failure = "(ends with status "

    private mutating func console(_ block: FencedBlock) throws {
        guard let first = block.body.first, first.hasPrefix("$ ") else {
            return complain(block.line, "this block names no command")
        }
        let output = Array(block.body.dropFirst())
        let command = ConsoleBlock(
            line: block.line + 1, command: String(first.dropFirst(2)), output: output)
        guard let lines = try world.output(command) else {
            return complain(block.line + 1, "there is no command '\(command.command)'")
        }
        if let first = lines.first, first.hasPrefix(Self.failure) {
            return complain(
                block.line + 1, "`\(command.command)` fails: \(lines.joined(separator: " "))")
        }
        let excerpt = Excerpt(output)
        guard let (index, line) = excerpt.difference(from: lines) else { return }
        let now = line.map { "'\($0)'" } ?? "nothing more"
        let shown = output.indices.contains(index) ? "'\(output[index])'" : "nothing more"
        complain(
            block.line + 2 + index,
            "`\(command.command)` prints \(now), but the text shows \(shown)")
        corrections[block.line] = [first] + excerpt.corrected(from: lines)
    }
}

// MARK: - Prose

extension TutorialCheck {
    /// Checks each figure against its formula. A figure of more than one digit must have one.
    mutating func checkFigures(_ figure: (_ formula: String, _ line: Int) throws -> String?)
        rethrows
    {
        for paragraph in Self.paragraphs(of: text) where !paragraph[0].text.hasPrefix("#") {
            let origins = paragraph.flatMap { line, text in
                Self.origins(in: text).map { (line: line, figure: $0.figure, formula: $0.formula) }
            }
            let prose = paragraph.map { ($0.line, Self.prose(of: $0.text)) }
            for (line, shown, formula) in origins {
                guard let place = prose.first(where: { Self.figures(in: $0.1).contains(shown) })
                else {
                    complain(line, "the paragraph has no figure \(shown)")
                    continue
                }
                if ["measured", "source", "chosen"].contains(formula) { continue }
                guard let now = try figure(formula, line) else {
                    complain(line, "'\(formula)' cannot be computed")
                    continue
                }
                if Self.digits(shown) != now {
                    complain(place.0, "the text says \(shown), but \(formula) is \(now)")
                }
            }
            for (line, text) in prose {
                for figure in Self.figures(in: text)
                where Self.isInDigits(figure) && figure.count > 1
                    && !origins.contains(where: { $0.figure == figure })
                {
                    complain(line, "nothing says where the figure \(figure) comes from")
                }
            }
        }
    }

    /// Lines of prose with no empty line between them. A heading is a paragraph of its own.
    private static func paragraphs(of text: String) -> [[(line: Int, text: String)]] {
        var paragraphs: [[(line: Int, text: String)]] = []
        var previous = -1
        for (line, text) in FencedBlock.prose(of: text) where !text.isEmpty {
            if line == previous + 1, !text.hasPrefix("#") {
                paragraphs[paragraphs.count - 1].append((line, text))
            } else {
                paragraphs.append([(line, text)])
            }
            previous = text.hasPrefix("#") ? -1 : line
        }
        return paragraphs
    }

    /// `23 = every R01 1; 20 = measured`, if the line is such a comment.
    static func origins(in text: String) -> [(figure: String, formula: String)] {
        guard let match = text.wholeMatch(of: /\s*<!-- figures: (.*) -->/) else { return [] }
        return match.1.split(separator: ";").map { entry in
            let sides = entry.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            return (sides[0], sides.count == 2 ? sides[1] : "")
        }
    }

    /// A line without comments, code, links, and digits that are not figures.
    private static func prose(of text: String) -> String {
        text.replacing(/<!--.*?-->/, with: "")
            .replacing(
                /(?:[Ee]xercises?|[Cc]hapters?|练习) (?:\d+|, | and | to |、| 和 | 到 )+/, with: ""
            )
            .replacing(/第 (?:\d+|、| 和 | 到 )+ 章|Swift \d+(\.\d+)?/, with: "")
            .replacing(/`[^`]*`|\[\d+(?=\])|\]\([^)]*\)|\b[HRC]\d\d\b|\b(19|20)\d\d\b/, with: "")
    }

    private static let words = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ]
    private static let chineseWords = [
        "零", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二",
    ]

    /// The figures in a line, in digits or as words.
    private static func figures(in text: String) -> [String] {
        text.matches(of: /[0-9](?:[0-9,.]*[0-9])?|[a-z]+|[零一二两三四五六七八九十]+/.ignoresCase())
            .map { String($0.0) }.filter { isInDigits($0) || value(ofWord: $0) != nil }
    }

    private static func isInDigits(_ figure: String) -> Bool {
        figure.utf8.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    }

    /// The value of a word such as `three` or `三`.
    private static func value(ofWord word: String) -> Int? {
        word == "两"
            ? 2 : words.firstIndex(of: word.lowercased()) ?? chineseWords.firstIndex(of: word)
    }

    static func digits(_ figure: String) -> String {
        value(ofWord: figure).map { "\($0)" } ?? figure
    }

    /// Checks that all named paths, hazards, exercises and commands exist.
    mutating func checkNames(
        hazards: [String], exercises: [Int], commands: [String], tests: String
    ) {
        for (line, text) in FencedBlock.prose(of: text) {
            for number in Self.exercises(in: text) where !exercises.contains(number) {
                complain(line, "there is no exercise \(number)")
            }
            for match in text.matches(of: /\b[HRC]\d\d\b/) where !hazards.contains(String(match.0))
            {
                complain(line, "there is no hazard \(match.0)")
            }
            for match in text.matches(of: /\]\((docs[^)#]*)/)
            where world.file(String(match.1)) == nil {
                complain(line, "there is no file \(match.1)")
            }
            for match in text.matches(of: /`([^`]+)`/) {
                checkName(String(match.1), line, hazards, commands, tests)
            }
        }
    }

    /// The exercises that a line names: `Exercise 5`, `Exercises 5, 6 and 7`, `Exercises 8 to 11`,
    /// `promise-lab grade 5`, `练习 5`, `练习 8 到 11`.
    static func exercises(in text: String) -> [Int] {
        text.matches(of: /promise-lab (?:exercise|grade) (\d+)/).map { Int($0.1)! }
            + text.matches(of: /(?:[Ee]xercises?|练习) ((?:\d+|, | and | to |、| 和 | 到 )+)/)
            .flatMap { numbers(in: $0.1) }
    }

    /// The chapters that a line names: `chapter 4`, `chapters 0 to 5 and 11`, `第 4 章`.
    static func chapters(in text: String) -> [Int] {
        text.matches(of: /[Cc]hapters? ((?:\d+|, | and | to )+)/).flatMap { numbers(in: $0.1) }
            + text.matches(of: /第 ((?:\d+|、| 和 | 到 )+) 章/).flatMap { numbers(in: $0.1) }
    }

    /// The numbers in `5, 6 and 7` or `0 to 5 and 11`.
    private static func numbers(in list: Substring) -> [Int] {
        list.matches(of: /(\d+)(?: (?:to|到) (\d+))?/).flatMap { match -> [Int] in
            let first = Int(match.1)!
            let last = match.2.flatMap { Int($0) } ?? first
            return first < last ? Array(first...last) : [first]
        }
    }

    private mutating func checkName(
        _ name: String, _ line: Int, _ hazards: [String], _ commands: [String], _ tests: String
    ) {
        let words = name.split(separator: " ").map(String.init)
        if words.count == 1,
            name.starts(with: /(Sources|Lab|Course|Tests|Exercises|docs)\//),
            world.file(name) == nil
        {
            complain(line, "there is no file \(name)")
        }
        let isLab = words.starts(with: ["promise-lab"])
        if isLab || words.starts(with: ["swift", "run", "promise-lab"]) {
            let arguments = words.dropFirst(isLab ? 1 : 3)
            guard let command = arguments.first else { return }
            if !commands.contains(command) { complain(line, "there is no command '\(name)'") }
            if ["show", "replay"].contains(command), let id = arguments.dropFirst().first,
                !hazards.contains(id)
            {
                complain(line, "there is no hazard \(id)")
            }
        }
        if words.starts(with: ["swift", "test", "--filter"]), let filter = words.last,
            !tests.contains(filter)
        {
            complain(line, "there are no tests called \(filter)")
        }
    }
}
