/// The part of a longer text that a document shows: all of it, or parts with lines of `…` between
/// them. An excerpt that does not begin with `…` starts at the first line, and one that does not
/// end with `…` reaches the last line.
struct Excerpt {
    static let omission = "…"

    private struct Part {
        /// The index of its first line in the excerpt.
        let start: Int
        var lines: [String]
    }

    private let shown: [String]
    private let parts: [Part]

    init(_ shown: [String]) {
        self.shown = shown
        var parts: [Part] = []
        var isInside = false
        for (index, line) in shown.enumerated() {
            if line == Self.omission {
                isInside = false
            } else if isInside {
                parts[parts.count - 1].lines.append(line)
            } else {
                parts.append(Part(start: index, lines: [line]))
                isInside = true
            }
        }
        self.parts = parts
    }

    /// The first line of the excerpt that is not in `text` where it should be, and the line of
    /// `text` that belongs there; `nil` if the excerpt is correct.
    func difference(from text: [String]) -> (index: Int, line: String?)? {
        guard shown.contains(Self.omission) else {
            return firstDifference(shown, text).map {
                ($0, text.indices.contains($0) ? text[$0] : nil)
            }
        }
        var position = 0
        for part in parts {
            let places = self.places(for: part, in: text, from: position)
            if let place = places.first(where: {
                text[$0..<($0 + part.lines.count)].elementsEqual(part.lines)
            }) {
                position = place + part.lines.count
                continue
            }
            let found = closest(to: part, in: text, from: position)
            let offset = firstDifference(part.lines, found) ?? 0
            return (part.start + offset, found.indices.contains(offset) ? found[offset] : nil)
        }
        return nil
    }

    /// The same excerpt of another text: parts of the same lengths, found by their first lines.
    func corrected(from text: [String]) -> [String] {
        guard shown.contains(Self.omission) else { return text }
        var result = shown
        for part in parts {
            let found = closest(to: part, in: text, from: 0)
            result.replaceSubrange(part.start..<(part.start + part.lines.count), with: found)
        }
        return result
    }

    /// The positions in a text where a part may begin.
    private func places(for part: Part, in text: [String], from position: Int) -> [Int] {
        let last = text.count - part.lines.count
        guard position <= last else { return [] }
        if part.start == 0 { return [0] }
        if part.start + part.lines.count == shown.count { return [last] }
        return Array(position...last)
    }

    /// The lines of a text that are most similar to a part.
    private func closest(to part: Part, in text: [String], from position: Int) -> [String] {
        let places = self.places(for: part, in: text, from: position)
        let place = places.max { common(text[$0], part.lines[0]) < common(text[$1], part.lines[0]) }
        guard let place else { return part.lines }
        return Array(text[place..<(place + part.lines.count)])
    }

    /// The length of the common prefix of two lines.
    private func common(_ left: String, _ right: String) -> Int {
        zip(left, right).prefix { $0 == $1 }.count
    }
}
