/// An interleaving as text: a column for each thread, a row for each step.
extension Trace {
    /// - Parameter width: no line is longer than this; longer source lines are cut.
    public func table(width: Int = 100) -> String {
        Table(self, width: width).text
    }

    private struct Table {
        let trace: Trace
        let width: Int
        let stateWidths: [Int]
        let threadWidths: [Int]
        let mainFile: String?

        init(_ trace: Trace, width: Int) {
            self.trace = trace
            self.width = width
            mainFile = Table.mostFrequent(trace.steps.compactMap { $0.site?.file })
            stateWidths = trace.columns.indices.map { column in
                let texts =
                    [trace.columns[column], trace.initial[column]]
                    + trace.steps.compactMap { $0.states?[column] }
                return min(texts.map(\.count).max() ?? 0, 22)
            }
            // Each thread gets what its longest line needs, as long as there is room for all.
            let gutter = 2
            let taken = 4 + stateWidths.reduce(0) { $0 + $1 + gutter }
            let room = max(width - taken - gutter * trace.threads.count, 12 * trace.threads.count)
            let main = mainFile
            let needs = trace.threads.indices.map { thread in
                let cells = trace.steps.filter { $0.thread == thread }
                    .map { Table.cell($0, mainFile: main).count }
                return max(trace.threads[thread].count, cells.max() ?? 0)
            }
            threadWidths = Table.share(room, among: needs)
        }

        private static func mostFrequent(_ texts: [String]) -> String? {
            Dictionary(grouping: texts, by: \.self)
                .max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }?.key
        }

        /// Gives each what it needs, and where that is too much, everyone the same at most.
        private static func share(_ room: Int, among needs: [Int]) -> [Int] {
            var most = needs.max() ?? 0
            while most > 12, needs.reduce(0, { $0 + min($1, most) }) > room { most -= 1 }
            return needs.map { min($0, most) }
        }

        /// What stands in the cell of a step, before it is cut: the text, and where it is from.
        private static func cell(_ step: Step, mainFile: String?) -> (
            text: String, place: String, count: Int
        ) {
            guard let site = step.site else {
                let text = step.kind == .note ? "» \(step.text)" : "?"
                return (text, "", text.count)
            }
            let file =
                site.file == mainFile
                ? "" : site.file.replacingOccurrences(of: ".swift", with: "")
            let place = " \(file):\(site.line)"
            return (step.text, place, step.text.count + place.count)
        }

        var text: String {
            var lines: [String] = []
            let titles =
                zip(trace.threads, threadWidths).map { $0.cut(to: $1).padded(to: $1) }
                + zip(trace.columns, stateWidths).map { $0.cut(to: $1).padded(to: $1) }
            lines.append("    " + titles.joined(separator: "  "))
            let blank = threadWidths.map { String(repeating: " ", count: $0) }
            lines.append("    " + (blank + states(trace.initial)).joined(separator: "  "))
            for (index, step) in trace.steps.enumerated() {
                var cells = blank
                let (source, place, _) = Table.cell(step, mainFile: mainFile)
                let room = threadWidths[step.thread]
                cells[step.thread] =
                    (source.cut(to: room - place.count).padded(to: room - place.count) + place)
                let number = String(index + 1).leftPadded(to: 2)
                var line = "\(number)  " + (cells + states(step.states)).joined(separator: "  ")
                if let mark = step.mark {
                    line = line.trimmedAtEnd
                    let remark = "  ← \(mark)"
                    if line.count + remark.count <= width {
                        line += remark
                    } else {
                        lines.append(line)
                        line = String(repeating: " ", count: max(4, width - remark.count)) + remark
                    }
                }
                lines.append(line)
            }
            return lines.map(\.trimmedAtEnd).joined(separator: "\n")
        }

        private func states(_ states: [String]?) -> [String] {
            stateWidths.indices.map { column in
                (states?[column] ?? "(locked)").cut(to: stateWidths[column])
                    .padded(to: stateWidths[column])
            }
        }
    }
}

extension String {
    /// The text, shortened to `width` characters with an ellipsis if it is longer.
    func cut(to width: Int) -> String {
        count <= width ? self : String(prefix(max(0, width - 1))) + "…"
    }

    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }

    var trimmedAtEnd: String {
        var text = Substring(self)
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
