import Foundation

/// Holds a tutorial against the sources, the commands and the lab. What it finds are complaints,
/// each with the line on which the text is not true.
///
/// These are the kinds of block that it knows, by the words behind the opening fence:
///
/// - `swift PATH` stands in that file, line by line;
/// - `swift variation NAME [MODULE]` compiles, together with the other blocks of that name;
/// - `diff PATH` fits that file, and compiles in its place;
/// - `console` begins with a command, and goes on with what it prints;
/// - `text example NAME` is what the lab finds in a ``TutorialExample``;
/// - `mermaid` is a diagram.
///
/// A figure in the prose is followed by a comment that says where it comes from: `figure:` and a
/// formula of ``TutorialFigures``, or `measured`, `source` or `chosen` where it cannot be computed.
struct TutorialCheck {
    struct Complaint: Equatable, CustomStringConvertible {
        let line: Int
        let what: String
        var description: String { "Tutorial.md:\(line): \(what)" }
    }

    /// What a check needs to know of the world.
    struct World: Sendable {
        /// The text of a file of the package, or `nil` if there is none.
        var file: @Sendable (String) -> String?
        /// What a command prints, or `nil` if there is no such command.
        var output: @Sendable (ConsoleBlock) throws -> [String]?
        /// What the lab finds in an example, or `nil` if there is none of that name.
        var example: @Sendable (String) throws -> [String]?
        /// What the compiler says about a text: in place of a file of the package, or, where that
        /// is empty, on its own, with a module that it may import.
        var compiler: @Sendable (_ text: String, _ path: String, _ module: String?) throws -> String
    }

    let text: String
    let world: World
    private(set) var complaints: [Complaint] = []
    /// Bodies of blocks that ought to be others, by the line of the opening fence.
    private var corrections: [Int: [String]] = [:]

    init(_ text: String, _ world: World) {
        self.text = text
        self.world = world
    }

    /// The text with its blocks put right, as far as that can be done. The prose stays as it is.
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
            case ("text", "example") where block.words.count == 3:
                let name = block.words[2]
                guard let lines = try world.example(name) else {
                    complain(block.line, "there is no example '\(name)'")
                    continue
                }
                compare(block, shown: block.body, with: lines, offset: 0, "the lab prints")
            case ("mermaid", nil): break
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
        compare(block, shown: output, with: lines, offset: 1, "`\(command.command)` prints")
    }

    /// `offset`: how many lines of the block stand before what is compared.
    private mutating func compare(
        _ block: FencedBlock, shown: [String], with lines: [String], offset: Int, _ who: String
    ) {
        guard let index = firstDifference(shown, lines) else { return }
        let now = lines.indices.contains(index) ? "'\(lines[index])'" : "nothing more"
        let said = shown.indices.contains(index) ? "'\(shown[index])'" : "nothing more"
        complain(block.line + 1 + offset + index, "\(who) \(now), but the text says \(said)")
        corrections[block.line] = block.body.prefix(offset) + lines
    }
}

// MARK: - Prose

extension TutorialCheck {
    /// Each figure is what its formula gives, and figures of more than one digit have one.
    mutating func checkFigures(_ figure: (_ formula: String, _ line: Int) throws -> String?)
        rethrows
    {
        for (line, text) in FencedBlock.prose(of: text) where !text.hasPrefix("#") {
            for match in text.matches(of: /([\d,]*\d)?<!-- figure: (.*?) -->/) {
                let formula = String(match.2)
                guard let now = try figure(formula, line) else {
                    complain(line, "'\(formula)' cannot be computed")
                    continue
                }
                let said = match.1.map(String.init) ?? "no figure"
                if said != now { complain(line, "the text says \(said), but \(formula) is \(now)") }
            }
            if text.contains(/<!-- (measured|source|chosen) -->/) { continue }
            let bare = text.replacing(/\d[\d,]*<!-- figure: .*? -->/, with: "")
                .replacing(/[Ee]xercises? (?:\d+|, | and | to )+/, with: "")
                .replacing(/`[^`]*`|\]\([^)]*\)|\b[HRC]\d\d\b|\b(19|20)\d\d\b/, with: "")
            for match in bare.matches(of: /\d[\d,]*\d/) {
                complain(line, "nothing says where the figure \(match.0) comes from")
            }
        }
    }

    /// Paths, hazards, exercises and commands that are named are there.
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
            for match in text.matches(of: /`([^`]+)`/) {
                checkName(String(match.1), line, hazards, commands, tests)
            }
        }
    }

    /// The exercises that a line names: `Exercise 5`, `Exercises 5, 6 and 7`, `Exercises 8 to 11`,
    /// `promise-lab grade 5`.
    static func exercises(in text: String) -> [Int] {
        let commands = text.matches(of: /promise-lab (?:exercise|grade) (\d+)/).map { Int($0.1)! }
        let named = text.matches(of: /[Ee]xercises? ((?:\d+|, | and | to )+)/).flatMap { match in
            let numbers = match.1.matches(of: /\d+/).map { Int($0.0)! }
            guard match.1.contains(" to "), let first = numbers.first, let last = numbers.last,
                first < last
            else { return numbers }
            return Array(first...last)
        }
        return commands + named
    }

    private mutating func checkName(
        _ name: String, _ line: Int, _ hazards: [String], _ commands: [String], _ tests: String
    ) {
        let words = name.split(separator: " ").map(String.init)
        let path = name.hasPrefix("Operators/") ? "Sources/Stage3ThreadSafe/\(name)" : name
        if words.count == 1, path.starts(with: /(Sources|Tests|Examples|Exercises)\//),
            world.file(path) == nil
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
