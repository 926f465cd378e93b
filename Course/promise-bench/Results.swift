import Foundation

struct Results: Encodable {
    /// Whether all threads shared one processor.
    let pinned: Bool
    var times: [Timing] = []
    var memory: [Memory] = []

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        // Numbers and names only: that cannot fail.
        return String(decoding: try! encoder.encode(self), as: UTF8.self)
    }

    // MARK: As a table

    private static let nameWidth = 22
    private static let columnWidth = 13

    var table: String {
        var lines = [line("", Contender.contenders.map(\.name))]
        for workload in unique(times.map(\.workload)) {
            let row = times.filter { $0.workload == workload }
            lines.append(
                line(
                    workload,
                    Contender.contenders.map { contender in
                        row.first { $0.contender == contender.name }.map(cell) ?? "–"
                    }))
        }
        lines.append("")
        for thing in unique(memory.map(\.thing)) {
            let row = memory.filter { $0.thing == thing }
            lines.append(
                line(
                    thing,
                    Contender.contenders.map { contender in
                        row.first { $0.contender == contender.name }.map(cell) ?? "–"
                    }))
        }
        return lines.joined(separator: "\n") + "\n\n" + legend
    }

    private func cell(_ timing: Timing) -> String {
        let time = digits(timing.median)
        guard timing.contender != Contender.contenders[0].name else {
            return "\(time) \(timing.unit.prefix(2))"
        }
        return "\(time) ×\(String(format: "%.2f", timing.ratio))"
    }

    private func cell(_ memory: Memory) -> String {
        let bytes = String(format: "%.0f", memory.bytes)
        return "\(String(format: "%.1f", memory.allocations)) · \(bytes) B"
    }

    private func digits(_ number: Double) -> String {
        String(format: number < 10 ? "%.2f" : number < 100 ? "%.1f" : "%.0f", number)
    }

    private var legend: String {
        var text = """
            W1 to W3: µs each; W4, all: ms; chains: ns a link; ×: as many times as GCD alone took.
            Below: heap blocks and bytes, of a pending promise and of a link as long as they exist,
            and of one iteration of W1 to W3 in all, freed or not.
            """
        if !pinned {
            text += "\nNot confined to one processor: these figures vary from run to run."
        }
        return text
    }

    private func line(_ name: String, _ cells: [String]) -> String {
        let padded = { (text: String, width: Int) in
            text + String(repeating: " ", count: max(1, width - text.count))
        }
        let line = cells.reduce(padded(name, Self.nameWidth)) {
            $0 + padded($1, Self.columnWidth)
        }
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    private func unique(_ names: [String]) -> [String] {
        names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
