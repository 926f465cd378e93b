import Foundation

/// A source as the compiler sees it: as words, without comments.
///
/// It is read in one pass, without recursion, because its author may have nested literals and
/// interpolations deeply on purpose.
struct SourceText {
    struct Word: Hashable {
        let text: String
        let line: Int
        /// Whether it is in backticks, and so no keyword.
        var isQuoted = false
    }

    /// Identifiers, numbers, symbols, and the parts of literals, in order. A part of a literal
    /// begins with a quotation mark.
    let words: [Word]

    init(_ source: String) {
        var reader = Reader(source)
        reader.read()
        words = reader.words
    }

    /// No answer is longer than that; a longer file may have been made to keep the grader busy.
    static let maximumBytes = 256 << 10

    /// - Throws: ``Grade/Result/refused(_:)`` for a file that cannot be an answer.
    init(of file: URL) throws {
        let attributes = try FileManager.default.attributesOfItem(
            atPath: file.resolvingSymlinksInPath().path)
        guard attributes[.type] as? FileAttributeType == .typeRegular else {
            throw Grade.Result.refused("\(file.lastPathComponent) is not a text file")
        }
        guard let size = attributes[.size] as? Int, size <= SourceText.maximumBytes else {
            throw Grade.Result.refused(
                "it is longer than \(SourceText.maximumBytes >> 10) KB, the limit for an answer")
        }
        guard let text = String(data: try Data(contentsOf: file), encoding: .utf8) else {
            throw Grade.Result.refused("its encoding is not UTF-8")
        }
        self.init(text)
    }

    /// Equal for sources that differ in comments and layout only.
    var essence: [String] { words.map(\.text) }
}

private struct Reader {
    /// A string literal that has begun, with the characters that end it.
    private struct Literal {
        let quotes: String
        let marks: String
        /// The number of open parentheses in an interpolation; `nil` in the text.
        var depth: Int?
    }

    private(set) var words: [SourceText.Word] = []
    private let characters: [Character]
    private var position = 0
    private var line = 1
    private var literals: [Literal] = []

    init(_ source: String) {
        characters = Array(source)
    }

    mutating func read() {
        while peek != nil {
            if let literal = literals.last, literal.depth == nil {
                readText(of: literal)
            } else {
                readCode()
            }
        }
    }

    private mutating func readCode() {
        guard let next = peek else { return }
        if next.isWhitespace {
            advance()
        } else if starts(with: "//") {
            while let next = peek, !next.isNewline { advance() }
        } else if starts(with: "/*") {
            skipComment()
        } else if next == "\"" || next == "#" {
            beginLiteral()
        } else if next == "`" {
            readQuotedName()
        } else if isPartOfName(next) {
            let start = position
            while let next = peek, isPartOfName(next) { advance() }
            append(String(characters[start..<position]), line)
        } else {
            count(next)
            append(String(next), line)
            advance()
        }
    }

    private mutating func readQuotedName() {
        advance()
        let start = position
        while let next = peek, next != "`", !next.isNewline { advance() }
        let name = String(characters[start..<position])
        words.append(SourceText.Word(text: name, line: line, isQuoted: true))
        if peek == "`" { advance() }
    }

    /// Counts parentheses, to find the end of an interpolation.
    private mutating func count(_ sign: Character) {
        guard let depth = literals.last?.depth, sign == "(" || sign == ")" else { return }
        let now = sign == "(" ? depth + 1 : depth - 1
        literals[literals.count - 1].depth = now == 0 ? nil : now
    }

    /// Reads text up to the end of the literal, or to an interpolation.
    private mutating func readText(of literal: Literal) {
        let (start, end) = (line, literal.quotes + literal.marks)
        var text = "\""
        while let next = peek {
            if starts(with: end) {
                advance(end.count)
                literals.removeLast()
                break
            }
            if starts(with: "\\\(literal.marks)(") {
                advance(2 + literal.marks.count)
                literals[literals.count - 1].depth = 1
                break
            }
            // A line break ends an unterminated literal; the compiler reports it.
            if next.isNewline, literal.quotes == "\"" {
                literals.removeLast()
                break
            }
            let isEscape = starts(with: "\\" + literal.marks)
            for _ in 0..<(isEscape ? 2 + literal.marks.count : 1) {
                if let character = peek { text.append(character) }
                advance()
            }
        }
        append(text, start)
    }

    /// A string literal with any number of `#` around it, a regular expression with some, or a `#`
    /// that begins neither.
    private mutating func beginLiteral() {
        var marks = ""
        while peek == "#" {
            marks.append("#")
            advance()
        }
        if peek == "\"" {
            let quotes = starts(with: "\"\"\"") ? "\"\"\"" : "\""
            advance(quotes.count)
            literals.append(Literal(quotes: quotes, marks: marks))
        } else if !marks.isEmpty, peek == "/" {
            let (start, first) = (position, line)
            while peek != nil, !starts(with: "/" + marks) || position == start { advance() }
            append("\"" + String(characters[start..<position]), first)
            advance(1 + marks.count)
        } else {
            append(marks, line)
        }
    }

    /// Comments may be nested.
    private mutating func skipComment() {
        var depth = 0
        repeat {
            if starts(with: "/*") {
                depth += 1
                advance(2)
            } else if starts(with: "*/") {
                depth -= 1
                advance(2)
            } else {
                advance()
            }
        } while depth > 0 && peek != nil
    }

    // MARK: Characters

    private var peek: Character? {
        position < characters.count ? characters[position] : nil
    }

    private func starts(with text: String) -> Bool {
        var place = position
        for character in text {
            guard place < characters.count, characters[place] == character else { return false }
            place += 1
        }
        return true
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < characters.count {
            if characters[position].isNewline { line += 1 }
            position += 1
        }
    }

    private func isPartOfName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    private mutating func append(_ text: String, _ line: Int) {
        words.append(SourceText.Word(text: text, line: line))
    }
}
