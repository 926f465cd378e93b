/// Escapes text so that Markdown shows it unchanged.
extension String {
    /// The text as code, valid in a table, too: backticks inside get a longer fence, and a bar gets
    /// a backslash. Empty if the text is blank.
    var markdownCode: String {
        let text = onOneLine.replacing("|", with: "\\|")
        guard text.contains(where: { $0 != " " }) else { return "" }
        var longest = 0
        var run = 0
        for character in text {
            run = character == "`" ? run + 1 : 0
            longest = max(longest, run)
        }
        let fence = String(repeating: "`", count: longest + 1)
        let gap = text.hasPrefix("`") || text.hasSuffix("`") ? " " : ""
        return fence + gap + text + gap + fence
    }

    /// The text as plain text.
    var markdownText: String {
        var escaped = ""
        for character in onOneLine {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case "\\", "`", "*", "_", "{", "}", "[", "]", "#", "|", "~", "!", ">", "$":
                escaped += "\\\(character)"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
