/// The width of text in the columns of a terminal.
extension Character {
    /// The number of columns: two for the wide characters of East Asia and for emoji.
    var columns: Int {
        if isASCII { return 1 }
        guard let first = unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x20000...0x3FFFD:
            return 2
        default:
            return 1
        }
    }

    fileprivate var isControl: Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension StringProtocol {
    package var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The longest beginning that fits into `width` columns.
    func fitting(_ width: Int) -> String {
        var text = ""
        var room = width
        for character in self {
            room -= character.columns
            if room < 0 { break }
            text.append(character)
        }
        return text
    }
}

extension String {
    /// The text, shortened to `width` columns with an ellipsis if it is longer.
    package func cut(to width: Int) -> String {
        if columns <= width { return self }
        return width < 1 ? "" : fitting(width - 1) + "…"
    }

    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - columns))
    }

    package func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - columns)) + self
    }

    var trimmedAtEnd: String {
        lastIndex { $0 != " " }.map { String(self[...$0]) } ?? ""
    }

    /// The text on one line: characters that would move the cursor become spaces.
    var onOneLine: String {
        String(map { $0.isNewline || $0 == "\t" || $0.isControl ? " " : $0 })
    }
}

/// Gives each column the width that it needs; if the room is too small for that, limits the widest
/// columns to an equal width.
func share(_ room: Int, among needs: [Int]) -> [Int] {
    var most = needs.max() ?? 0
    while most > 1, needs.reduce(0, { $0 + min($1, most) }) > room { most -= 1 }
    return needs.map { min($0, most) }
}
