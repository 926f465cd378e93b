/// Where in a source a name is certainly the answer's own, although the system has one like it.
///
/// That is so inside the braces that contain the declaration of
///
/// - a type: `private struct Task`;
/// - a function without parameters, in a type or a function, for calls without arguments;
/// - a variable whose initial value is a literal: `let system = 1`.
///
/// Elsewhere, and for other declarations, the name may mean the system's: a function at the top
/// level is an overload of an imported one, and a variable may hold it.
struct OwnNames {
    private enum Kind {
        case type, function, variable
    }

    private let words: [SourceText.Word]
    /// The braces around each declaration, by name.
    private var scopes: [String: [(kind: Kind, range: ClosedRange<Int>)]] = [:]

    init(in words: [SourceText.Word]) {
        self.words = words
        // A declaration in an inactive branch hides nothing.
        guard !words.indices.contains(where: { text($0) == "#" && text($0 + 1) == "if" }) else {
            return
        }
        let blocks = OwnNames.blocks(of: words)
        for index in words.indices.dropFirst() {
            guard let kind = kind(ofDeclarationAt: index) else { continue }
            let block = blocks[index]
            if kind == .function, block == nil { continue }
            let range = block ?? 0...words.count
            scopes[words[index].text, default: []].append((kind, range))
        }
    }

    /// Whether the name at this place is one that the answer declares.
    func contains(_ index: Int) -> Bool {
        guard let scopes = scopes[words[index].text] else { return false }
        if text(index - 1) == "@" { return false }
        if text(index - 1) == ".", SourceRules.isModule(text(index - 2)) { return false }
        return scopes.contains { kind, range in
            guard range.contains(index) else { return false }
            return switch kind {
            case .type: true
            case .function: text(index + 1) == "(" && text(index + 2) == ")"
            // A label, as in `String(contentsOfFile: …)`, is not the variable.
            case .variable: text(index + 1) != ":" && text(index + 1) != "("
            }
        }
    }

    private func kind(ofDeclarationAt index: Int) -> Kind? {
        switch text(index - 1) {
        case "struct", "class", "enum", "typealias": .type
        case "func": text(index + 1) == "(" && text(index + 2) == ")" ? .function : nil
        case "let", "var": text(index + 1) == "=" && isLiteral(index + 2) ? .variable : nil
        default: nil
        }
    }

    /// Whether this is a complete value: `1`, `"text"` or `false`.
    private func isLiteral(_ index: Int) -> Bool {
        guard let value = text(index), let first = value.first else { return false }
        guard first.isNumber || first == "\"" || ["true", "false"].contains(value) else {
            return false
        }
        let isLast = !words.indices.contains(index + 1) || words[index + 1].line > words[index].line
        return isLast || [";", "}"].contains(text(index + 1))
    }

    private func text(_ index: Int) -> String? {
        words.indices.contains(index) ? words[index].text : nil
    }

    /// The innermost braces around each word; `nil` at the top level.
    private static func blocks(of words: [SourceText.Word]) -> [ClosedRange<Int>?] {
        var (open, starts, ends): ([Int], [Int?], [Int: Int]) = ([], [], [:])
        for (index, word) in words.enumerated() {
            if word.text == "}", let start = open.popLast() { ends[start] = index }
            starts.append(open.last)
            if word.text == "{" { open.append(index) }
        }
        return starts.map { start in
            start.map { $0...(ends[$0] ?? words.count) }
        }
    }
}
