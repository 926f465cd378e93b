import Foundation
import RaceLab
import SharedSuite
import Synchronization

/// Every hazard on every stage.
enum Matrix {
    private struct Row {
        let hazard: any Hazard
        let verdicts: [Stage: Verdict]
    }

    private static let nameWidth = 32
    private static let columnWidths: [Stage: Int] = [.naive: 21, .handlers: 26, .threadSafe: 16]

    static func command() throws {
        if let unavailable { throw Unavailable(description: unavailable) }
        let rows = run()
        print(text(rows), terminator: "")
        let differences = rows.flatMap(differences)
        guard differences.isEmpty else {
            // Standard output first, or a pipe would show the two in any order.
            fflush(nil)
            for difference in differences { Terminal.complain(difference) }
            exit(1)
        }
    }

    struct Unavailable: Error, CustomStringConvertible {
        let description: String
    }

    // MARK: Running

    private static func run() -> [Row] {
        let progress = Progress()
        defer { progress.end() }
        let rows = Catalogue.all.map { hazard in
            Row(
                hazard: hazard,
                verdicts: Dictionary(
                    uniqueKeysWithValues: Stage.allCases.map { stage in
                        guard hazard.id != "H12" else { return (stage, .unknown("")) }
                        progress.now("\(hazard.id) \(hazard.name), \(stage)")
                        return (stage, hazard.run(on: stage))
                    }))
        }
        // The million links take the longest, in processes of their own. They come last, because
        // the lab is quicker when it has a processor to itself.
        let inOtherProcesses = Background { stage in Catalogue.hazard("H12")!.run(on: stage) }
        progress.now("H12 \(Catalogue.hazard("H12")!.name): still linking")
        let awaited = inOtherProcesses.verdicts
        return rows.map {
            $0.hazard.id == "H12" ? Row(hazard: $0.hazard, verdicts: awaited) : $0
        }
    }

    /// Work on all stages at a time, each on a thread of its own.
    private final class Background: Sendable {
        private let found = Mutex<[Stage: Verdict]>([:])
        private let group = DispatchGroup()

        init(_ work: @escaping @Sendable (Stage) -> Verdict) {
            for stage in Stage.allCases {
                group.enter()
                Thread { [self] in
                    let verdict = work(stage)
                    found.withLock { $0[stage] = verdict }
                    group.leave()
                }.start()
            }
        }

        var verdicts: [Stage: Verdict] {
            group.wait()
            return found.withLock { $0 }
        }
    }

    // MARK: Writing

    private static func text(_ rows: [Row]) -> String {
        var text = ""
        for (title, hazards) in Catalogue.groups {
            text += header(title) + "\n"
            for row in rows where hazards.contains(where: { $0.id == row.hazard.id }) {
                text += line(row) + "\n"
            }
            text += "\n"
        }
        return text + legend + "\n\n" + summary(rows) + "\n"
    }

    private static func header(_ title: String) -> String {
        let stages = Stage.allCases.map { "\($0)".padded(to: columnWidths[$0]!) }.joined()
        return Terminal.painted(
            trimmed("\(title)".padded(to: nameWidth + 5) + stages), .bold)
    }

    private static func line(_ row: Row) -> String {
        var text = row.hazard.id.padded(to: 5) + row.hazard.name.padded(to: nameWidth)
        for stage in Stage.allCases {
            let (cell, colour) = cell(row.verdicts[stage]!, row.hazard.expectation(on: stage))
            let isLast = stage == Stage.allCases.last
            let room = columnWidths[stage]! - cell.count
            let gap = isLast ? "" : String(repeating: " ", count: max(1, room))
            text += Terminal.painted(cell, colour) + gap
        }
        return text
    }

    /// Of several reasons the one that is documented first, if it was found; and a hint at the
    /// others.
    private static func word(_ found: [Reason], _ expectation: Expectation) -> String {
        let more = found.count > 1 ? " …" : ""
        if case .fails(let first, _) = expectation, found.contains(first) {
            return first.rawValue + more
        }
        return found[0].rawValue + more
    }

    private static func cell(
        _ verdict: Verdict, _ expectation: Expectation
    ) -> (String, Terminal.Colour) {
        switch verdict {
        case .survives(let explored, _):
            return (explored.map { "✓ 0/\($0)" } ?? "✓", .green)
        case .fails(let reasons, let failing?, let explored?, _):
            return ("✗ \(failing)/\(explored) \(word(reasons, expectation))", .red)
        case .fails(let reasons, _, _, _):
            return ("✗ \(word(reasons, expectation))", .red)
        case .cannotExpress:
            return ("–", .grey)
        case .unknown:
            return ("? unknown", .red)
        }
    }

    private static let legend =
        """
        ✓ survives   ✗ fails   – cannot be expressed   … and for other reasons
        k/n: k of the n interleavings explored fail; those that differ only in the order of steps
        that do not touch the same thing are explored once
        """

    private static func summary(_ rows: [Row]) -> String {
        let counts = Stage.allCases.map { stage in
            let verdicts = rows.map { $0.verdicts[stage]! }
            let expressed = verdicts.count { if case .cannotExpress = $0 { false } else { true } }
            let survived = verdicts.count { if case .survives = $0 { true } else { false } }
            return "\(stage) survives \(survived) of \(expressed)"
        }
        let explored = rows.flatMap(\.verdicts.values).reduce(0) { sum, verdict in
            switch verdict {
            case .survives(let explored, _), .fails(_, _, let explored, _): sum + (explored ?? 0)
            default: sum
            }
        }
        let differing = rows.reduce(0) { $0 + differences($1).count }
        let agreement =
            differing == 0
            ? "every verdict is as documented" : "\(differing) verdicts are not as documented"
        let next = differing == 0 ? "\nNext: swift run promise-lab show R01 --stage 1" : ""
        return "\(counts.joined(separator: ", ")).\n"
            + "\(explored.grouped) interleavings explored; \(agreement).\(next)"
    }

    private static func differences(_ row: Row) -> [String] {
        Stage.allCases.compactMap { stage in
            row.verdicts[stage]!.difference(from: row.hazard.expectation(on: stage)).map {
                "promise-lab: \(row.hazard.id) on \(stage): \($0)"
            }
        }
    }

    private static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
