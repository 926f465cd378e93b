import RaceLab

/// A table of an interleaving in the colors of a terminal: one for each thread, the same as on the
/// page. What has changed in the state stands out, and what has not recedes. Without color the text
/// says the same.
struct PaintedTable {
    private let trace: Trace
    private let lines: [String]
    /// Where the columns of the threads begin, and then those of the state.
    private let starts: [Int]

    init(_ trace: Trace, width: Int) {
        self.init(trace, table: trace.table(width: width))
    }

    init(_ trace: Trace, table: String) {
        self.trace = trace
        lines = table.components(separatedBy: "\n")
        starts = PaintedTable.starts(of: trace.threads + trace.columns, in: lines[0])
    }

    /// The places of the titles; none if one of them has been cut.
    private static func starts(of titles: [String], in line: String) -> [Int] {
        var starts: [Int] = []
        var rest = line[...]
        for title in titles {
            guard let range = rest.firstRange(of: title) else { return [] }
            starts.append(line.distance(from: line.startIndex, to: range.lowerBound))
            rest = rest[range.upperBound...]
        }
        return starts
    }

    /// - Parameter paint: makes a text have a color.
    func text(_ paint: (String, Terminal.Colour) -> String) -> String {
        guard !starts.isEmpty else { return lines.joined(separator: "\n") }
        var seen = trace.initial
        var isFatal = false
        return lines.enumerated().map { index, line in
            if index == 0 { return header(line, paint) }
            let row = line.split(separator: "←", maxSplits: 1, omittingEmptySubsequences: false)
            let step = number(of: line).map { trace.steps[$0 - 1] }
            let states = step == nil ? nil : step?.states ?? seen
            defer { seen = states ?? seen }
            let remark = row.count > 1 ? paint("←" + row[1], .red) : ""
            isFatal = row.count > 1 && index > 0
            let waits = line.drop { $0 == " " }.hasPrefix("–")
            if row.count > 1, row[0].allSatisfy({ $0 == " " }) { return String(row[0]) + remark }
            return painted(
                Array(row[0]), seen: seen, states: states, isRed: isFatal || waits, paint) + remark
        }.joined(separator: "\n")
    }

    private func number(of line: String) -> Int? {
        let digits = line.drop { $0 == " " }.prefix { $0.isNumber }
        return Int(digits).flatMap { (1...max(1, trace.steps.count)).contains($0) ? $0 : nil }
    }

    private func header(_ line: String, _ paint: (String, Terminal.Colour) -> String) -> String {
        pieces(Array(line)).map { column, text in
            trace.threads.indices.contains(column)
                ? paint(text, .thread(column)) : column < 0 ? text : paint(text, .bold)
        }.joined()
    }

    private func painted(
        _ line: [Character], seen: [String], states: [String]?, isRed: Bool,
        _ paint: (String, Terminal.Colour) -> String
    ) -> String {
        pieces(line).map { column, text in
            if trace.threads.indices.contains(column) { return paint(text, .thread(column)) }
            if column < 0 { return isRed ? paint(text, .red) : text }
            let state = column - trace.threads.count
            let isSame = states.map { $0[state] == seen[state] } ?? false
            return paint(text, isSame ? .grey : .bold)
        }.joined()
    }

    /// A line, cut where columns begin: each piece with the number of its column, -1 before the
    /// first. A bar beside a held lock stands before the column of its thread, and belongs to it.
    private func pieces(_ line: [Character]) -> [(column: Int, text: String)] {
        let bounds = [0] + starts.enumerated().map { $1 - ($0 < trace.threads.count ? 2 : 0) }
        return bounds.enumerated().compactMap { index, start in
            let end = index + 1 < bounds.count ? bounds[index + 1] : line.count
            let range = max(0, start)..<max(start, end)
            guard range.lowerBound < line.count else { return nil }
            return (index - 1, String(line[range.clamped(to: 0..<line.count)]))
        }
    }
}
