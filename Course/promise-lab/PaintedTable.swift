import RaceLab

/// A table of an interleaving in the colors of a terminal: one for each thread, the same as on the
/// page. Changed parts of the state are bright, and unchanged parts are dim; the mark at a step and
/// the reasons why threads wait at the end are red. Without color, the text is the same.
///
/// It colors the text of a table, so it also works on a table from another process.
struct PaintedTable {
    typealias Paint = (String, Terminal.Colour) -> String

    private let lines: [String]

    init(_ table: String) {
        lines = table.components(separatedBy: "\n")
    }

    /// - Parameter paint: makes a text have a color.
    func text(_ paint: Paint) -> String {
        // The titles of columns begin to the right of the step numbers. A table without columns has
        // a legend instead, which begins at the margin.
        guard lines[0].hasPrefix(" ") else { return PaintedRows(legend: lines).text(paint) }
        return PaintedColumns(lines).text(paint)
    }
}

/// A table with a column for each thread.
private struct PaintedColumns {
    private let lines: [String]
    private let starts: [Int]
    private let threadCount: Int

    init(_ lines: [String]) {
        self.lines = lines
        let starts = PaintedColumns.startsOfColumns(lines[0])
        self.starts = starts
        // The row before the first step shows the state, and nothing else.
        let first =
            lines.count > 1 ? PaintedColumns.number(in: lines[1]) == nil ? lines[1] : "" : ""
        let margin = first.prefix { $0 == " " }.count
        threadCount = margin == first.count ? starts.count : starts.count { $0 < margin }
    }

    /// Columns are separated by at least two spaces.
    private static func startsOfColumns(_ line: String) -> [Int] {
        let line = Array(line)
        return line.indices.filter { index in
            index >= 2 && line[index] != " " && line[index - 1] == " " && line[index - 2] == " "
        }
    }

    /// The number at the start of a row: digits, or `–` for a waiting thread.
    private static func number(in line: String) -> Substring? {
        let word = line.drop { $0 == " " }.prefix { $0 != " " }
        let margin = line.count - line.drop { $0 == " " }.count
        let isNumber = word == "–" || !word.isEmpty && word.allSatisfy(\.isNumber)
        return margin < 4 && isNumber ? word : nil
    }

    func text(_ paint: PaintedTable.Paint) -> String {
        var seen: [String] = []
        return lines.enumerated().map { index, line in
            if index == 0 { return titles(line, paint) }
            guard line.hasPrefix(" ") || PaintedColumns.number(in: line) != nil else { return line }
            let number = PaintedColumns.number(in: line)
            // A remark that does not fit behind its row is on the line below.
            if index > 1, number == nil { return paintedRemark(line, paint) }
            let (row, remark) = line.dividedAtMark
            let states = pieces(row).filter { $0.column >= threadCount }.map(\.trimmed)
            defer { if states.contains(where: { !$0.isEmpty }) { seen = states } }
            return painted(row, seen: seen, isRed: number == "–" || remark != nil, paint)
                + (remark.map { paint($0, .red) } ?? "")
        }.joined(separator: "\n")
    }

    private func titles(_ line: String, _ paint: PaintedTable.Paint) -> String {
        pieces(line).map { piece in
            piece.column < 0
                ? piece.text
                : paint(piece.text, piece.column < threadCount ? .thread(piece.column) : .bold)
        }.joined()
    }

    private func painted(
        _ row: String, seen: [String], isRed: Bool, _ paint: PaintedTable.Paint
    ) -> String {
        pieces(row).map { piece in
            if piece.column < 0 { return isRed ? paint(piece.text, .red) : piece.text }
            if piece.column < threadCount { return paint(piece.text, .thread(piece.column)) }
            let state = piece.column - threadCount
            let isSame = !seen.indices.contains(state) || seen[state] == piece.trimmed
            return paint(piece.text, isSame ? .grey : .bold)
        }.joined()
    }

    private func paintedRemark(_ line: String, _ paint: PaintedTable.Paint) -> String {
        let margin = line.prefix { $0 == " " }
        return margin + paint(String(line.dropFirst(margin.count)), .red)
    }

    private struct Piece {
        let column: Int
        let text: String
        var trimmed: String {
            String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// A line, cut where columns begin; column -1 is the part before the first. The bar beside a
    /// held lock precedes the column of its thread, and belongs to it.
    private func pieces(_ line: String) -> [Piece] {
        let line = Array(line)
        let bounds = [0] + starts.enumerated().map { $1 - ($0 < threadCount ? 2 : 0) }
        return bounds.indices.compactMap { index in
            let end = index + 1 < bounds.count ? min(bounds[index + 1], line.count) : line.count
            guard bounds[index] < end else { return nil }
            return Piece(column: index - 1, text: String(line[bounds[index]..<end]))
        }
    }
}

/// A table without columns: each row begins with the number of the step and the letter of its
/// thread.
struct PaintedRows {
    private let lines: [String]
    private let letters: [Character]
    private let names: [String]

    init(_ lines: [String], threads: [String]) {
        self.lines = lines
        letters = Exploration.Schedule.letters(for: threads)
        names = threads
    }

    /// - Parameter lines: the first of them names the thread of each letter.
    fileprivate init(legend lines: [String]) {
        self.lines = lines
        let parts = lines[0].components(separatedBy: ", ").filter { $0.dropFirst().first == " " }
        letters = parts.compactMap(\.first)
        names = parts.map { String($0.dropFirst(2)) }
    }

    func text(_ paint: PaintedTable.Paint) -> String {
        painted(paint).joined(separator: "\n")
    }

    func painted(_ paint: PaintedTable.Paint) -> [String] {
        var rest: Terminal.Colour?
        return lines.map { line in
            if line.drop(while: { $0 == " " }).isEmpty {
                rest = nil
                return line
            }
            if let (row, remark, color) = divided(line) {
                rest = color
                return step(row, paint) + (remark.map { paint($0, color ?? .bold) } ?? "")
            }
            if line.hasPrefix("✗") { rest = .red }
            if line.hasPrefix("✓") { rest = .green }
            // A remark that does not fit behind its row is on the line below.
            let word = line.drop { $0 == " " }
            if word.hasPrefix("→ ") { rest = .bold } else if word.hasPrefix("← ") { rest = .red }
            let isBelow = line.hasPrefix(" ") || word.hasPrefix("✗") || word.hasPrefix("✓")
            if isBelow || rest == .red || rest == .green, let rest { return paint(line, rest) }
            return legend(line, paint)
        }
    }

    /// A row, and the remark at its end: how the state changes, or why the step matters.
    private func divided(_ line: String) -> (row: String, remark: String?, Terminal.Colour?)? {
        let start = line.drop { $0 == " " }
        let number = start.prefix { $0.isNumber || $0 == "–" }
        guard !number.isEmpty, start.dropFirst(number.count).first == " ",
            owner(of: Array(line), after: line.count - start.count + number.count + 1) != nil
        else { return nil }
        if let range = line.ranges(of: "  ← ").last {
            return (String(line[..<range.lowerBound]), String(line[range.lowerBound...]), .red)
        }
        if let range = line.ranges(of: " → ").last {
            return (String(line[..<range.lowerBound]), String(line[range.lowerBound...]), .bold)
        }
        return (line, nil, nil)
    }

    private func owner(of line: [Character], after start: Int) -> Int? {
        letters.indices.first {
            line.indices.contains(start + $0) && line[start + $0] == letters[$0]
        }
    }

    /// Colors each thread's place in the row like that thread, and the step like its own.
    private func step(_ row: String, _ paint: PaintedTable.Paint) -> String {
        let line = Array(row)
        let margin = line.prefix { $0 == " " }.count
        let number = line[margin...].prefix { $0 != " " }
        let start = number.endIndex + 1
        guard let thread = owner(of: line, after: start) else { return row }
        let places = letters.indices.map { place in
            guard line.indices.contains(start + place) else { return "" }
            let sign = String(line[start + place])
            return sign == " " ? sign : paint(sign, .thread(place))
        }.joined()
        let beginning = String(line[..<start])
        let end = String(line[min(start + letters.count, line.count)...])
        return (number == ["–"] ? paint(beginning, .red) : beginning) + places
            + (end.isEmpty ? "" : paint(end, .thread(thread)))
    }

    private func legend(_ line: String, _ paint: PaintedTable.Paint) -> String {
        let parts = line.components(separatedBy: ", ")
        return parts.map { part in
            let words = part.reversed().drop { $0 == " " }.reversed()
            let thread = names.indices.first { "\(letters[$0]) \(names[$0])" == String(words) }
            return thread.map { paint(part, .thread($0)) } ?? part
        }.joined(separator: ", ")
    }
}

extension String {
    /// A row of a table, and the mark at its end.
    fileprivate var dividedAtMark: (row: String, mark: String?) {
        guard let range = ranges(of: "  ← ").last else { return (self, nil) }
        return (String(self[..<range.lowerBound]), String(self[range.lowerBound...]))
    }
}

/// Two interleavings side by side, see ``Exploration/SideBySide``.
struct PaintedHalves {
    private static let divider = " ┃ "
    private let left: PaintedRows
    private let right: PaintedRows

    init(_ text: String, threads: (left: [String], right: [String])) {
        // A line may end in the divider, without the space after it.
        let halves = text.components(separatedBy: "\n").map { line in
            let parts = (line + " ").split(
                separator: PaintedHalves.divider, maxSplits: 1, omittingEmptySubsequences: false)
            return (
                left: String(parts[0]), right: parts.count > 1 ? String(parts[1].dropLast()) : ""
            )
        }
        left = PaintedRows(halves.map(\.left), threads: threads.left)
        right = PaintedRows(halves.map(\.right), threads: threads.right)
    }

    func text(_ paint: PaintedTable.Paint) -> String {
        zip(left.painted(paint), right.painted(paint)).map { left, right in
            right.isEmpty ? left + " ┃" : left + PaintedHalves.divider + right
        }.joined(separator: "\n")
    }
}
