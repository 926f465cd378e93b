/// Minifies a script or a style sheet: removes comments, indentation and spaces between tokens. A
/// script keeps its line breaks, because one can end a statement. Strings, templates and regular
/// expressions stay unchanged.
struct Compact {
    enum Language {
        case script, style
    }

    private let source: [Unicode.Scalar]
    private let language: Language
    private var index = 0
    private var output = String.UnicodeScalarView()
    /// For each open `${`, the number of braces that are open inside it.
    private var braces: [Int] = []

    static func text(of source: String, _ language: Language) -> String {
        var compact = Compact(source, language)
        compact.run()
        return String(compact.output)
    }

    private init(_ source: String, _ language: Language) {
        self.source = Array(source.unicodeScalars)
        self.language = language
    }

    private var next: Unicode.Scalar? { index < source.count ? source[index] : nil }

    private func isAt(_ text: String) -> Bool {
        source[index...].starts(with: text.unicodeScalars)
    }

    private mutating func copy(_ count: Int = 1) {
        let end = min(index + count, source.count)
        output.append(contentsOf: source[index..<end])
        index = end
    }

    private mutating func run() {
        while let next {
            switch next {
            case " ", "\n": skipSpace()
            case "\"", "'": copy(to: next)
            case "/" where isAt("/*"): skip(after: "*/")
            case "/" where language == .script && isAt("//"): skip(after: "\n")
            case "/" where language == .script && isStartOfExpression: copy(to: "/")
            case "`" where language == .script:
                copy()
                copyTemplate()
            case "{" where !braces.isEmpty:
                braces[braces.count - 1] += 1
                copy()
            case "}" where braces.last == 0:
                braces.removeLast()
                copy()
                copyTemplate()
            case "}" where !braces.isEmpty:
                braces[braces.count - 1] -= 1
                copy()
            default: copy()
            }
        }
    }

    // MARK: Text that is copied

    /// Copies a string or a regular expression. Its delimiter may be escaped in it or, in a regular
    /// expression, be part of a character set.
    private mutating func copy(to end: Unicode.Scalar) {
        var isInSet = false
        copy()
        while let next, next != end || isInSet {
            if end == "/" { isInSet = next == "[" || isInSet && next != "]" }
            copy(next == "\\" ? 2 : 1)
        }
        copy()
    }

    /// Copies the text of a template, to its end or to the code in it.
    private mutating func copyTemplate() {
        while let next, next != "`" {
            if isAt("${") {
                copy(2)
                return braces.append(0)
            }
            copy(next == "\\" ? 2 : 1)
        }
        copy()
    }

    /// Whether a slash here begins a regular expression instead of being a division.
    private var isStartOfExpression: Bool {
        guard let last = output.last(where: { $0 != " " && $0 != "\n" }) else { return true }
        if last.isPartOfWord { return output.suffix(6).elementsEqual("return".unicodeScalars) }
        return last != ")" && last != "]" && last != "}"
    }

    // MARK: Text that is removed

    /// - Parameter end: skipped as well, unless it is a line break, which can end a statement.
    private mutating func skip(after end: String) {
        while index < source.count, !isAt(end) { index += 1 }
        if end != "\n" { index += end.count }
    }

    private mutating func skipSpace() {
        var endsLine = false
        while let next, next == " " || next == "\n" {
            endsLine = endsLine || next == "\n"
            index += 1
        }
        guard let last = output.last, last != "\n", let next else { return }
        switch language {
        case .script where endsLine: output.append("\n")
        case .script where last == next || last.isPartOfWord && next.isPartOfWord:
            output.append(" ")
        case .script: break
        case .style where endsLine && last == "}": output.append("\n")
        case .style where "{};,:".unicodeScalars.contains(last): break
        case .style where "{};,".unicodeScalars.contains(next): break
        case .style: output.append(" ")
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isPartOfWord: Bool {
        self == "_" || self == "$" || properties.isAlphabetic || ("0"..."9").contains(self)
    }
}
