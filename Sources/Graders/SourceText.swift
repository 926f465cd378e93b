/// A source as the compiler sees it: without comments, and with the words apart.
struct SourceText {
    struct Word: Hashable {
        let text: String
        let line: Int
    }

    /// Identifiers, numbers, literals and signs, in their order.
    let words: [Word]

    init(_ source: String) {
        var reader = Reader(source)
        words = reader.words()
    }

    /// The same for sources that differ in comments and layout only.
    var essence: [String] { words.map(\.text) }
}

private struct Reader {
    private let characters: [Character]
    private var position = 0
    private var line = 1

    init(_ source: String) {
        characters = Array(source)
    }

    mutating func words() -> [SourceText.Word] {
        var words: [SourceText.Word] = []
        while let next = peek {
            let start = line
            if next.isWhitespace {
                advance()
            } else if starts(with: "//") {
                while let next = peek, !next.isNewline { advance() }
            } else if starts(with: "/*") {
                skipComment()
            } else if next == "\"" || next == "#" {
                words += literal(from: start)
            } else if isPartOfName(next) {
                words.append(SourceText.Word(text: name(), line: start))
            } else {
                advance()
                words.append(SourceText.Word(text: String(next), line: start))
            }
        }
        return words
    }

    private var peek: Character? {
        position < characters.count ? characters[position] : nil
    }

    private func starts(with text: String) -> Bool {
        let text = Array(text)
        return position + text.count <= characters.count
            && Array(characters[position..<position + text.count]) == text
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

    private mutating func name() -> String {
        let start = position
        while let next = peek, isPartOfName(next) { advance() }
        return String(characters[start..<position])
    }

    /// Comments may stand within comments.
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

    /// A string, with any number of `#` around it; or a `#` that begins no string. What stands in
    /// `\( )` is code: its words follow the literal.
    private mutating func literal(from start: Int) -> [SourceText.Word] {
        var marks = ""
        while peek == "#" {
            marks.append("#")
            advance()
        }
        guard peek == "\"" else { return [SourceText.Word(text: marks, line: start)] }
        let quotes = starts(with: "\"\"\"") ? "\"\"\"" : "\""
        advance(quotes.count)
        var text = ""
        var inserted: [SourceText.Word] = []
        while let next = peek, !starts(with: quotes + marks) {
            if starts(with: "\\\(marks)(") {
                advance(2 + marks.count)
                inserted += SourceText(insertion()).words.map {
                    SourceText.Word(text: $0.text, line: start + $0.line - 1)
                }
            } else if next == "\\" {
                text.append(next)
                advance()
                if let escaped = peek { text.append(escaped) }
                advance()
            } else {
                text.append(next)
                advance()
            }
        }
        advance(quotes.count + marks.count)
        return [SourceText.Word(text: "\"\(text)\"", line: start)] + inserted
    }

    private mutating func insertion() -> String {
        let start = position
        var depth = 1
        while let next = peek {
            if next == "(" { depth += 1 }
            if next == ")" { depth -= 1 }
            if depth == 0 { break }
            advance()
        }
        let text = String(characters[start..<position])
        advance()
        return text
    }
}
