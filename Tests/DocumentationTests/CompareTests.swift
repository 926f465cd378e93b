import SharedSuite
import StageTesting
import Testing

/// Two subjects beside each other, as the command prints them.
@Suite("promise-lab compare", .needsTheLab)
struct CompareTests {
    private static let names = (Subject.designs + Subject.stages).map(\.name)

    /// Every two of them.
    private static let pairs = names.indices.flatMap { one in
        names.indices.filter { $0 > one }.map { (names[one], names[$0]) }
    }

    @Test(
        "any two are side by side in 100 columns, and no step is missing",
        arguments: ["R01", "R05", "R06", "R09", "R10"])
    func everyPair(_ id: String) throws {
        var compared = 0
        for (one, other) in Self.pairs where Self.canExpress(id, one, other) {
            let result = try Commands.promiseLab(["compare", one, other, id])
            #expect(result.status == 0 && result.errors == "", "\(one), \(other)")
            #expect(result.lines.allSatisfy { $0.count <= 100 }, "\(one), \(other)")
            let schedules = result.lines.compactMap {
                $0.firstMatch(of: /^replay: promise-lab replay .* --schedule (\w+)$/)?.1
            }
            #expect(schedules.count == 2)
            for (half, schedule) in zip(Self.halves(of: result.lines), schedules) {
                #expect(Self.steps(in: half) == Self.letters(of: schedule), "\(one), \(other)")
                let verdict = half.count { $0.hasPrefix("✗ ") || $0.hasPrefix("✓ ") }
                #expect(verdict == 1, "\(one), \(other)")
            }
            compared += 1
        }
        #expect(compared >= 10)
    }

    @Test(
        "of a race that survives, one interleaving is shown, even if another row finds fault with all",
        arguments: ["R09", "R10"])
    func survivesWithRemarks(_ id: String) throws {
        for format in [[], ["--format", "markdown"]] {
            let result = try Commands.promiseLab(["show", id, "--stage", "1"] + format)
            #expect(result.status == 0)
            #expect(result.output.contains("f_then?(value)"))
            #expect(!result.output.contains("every check holds"))
        }
    }

    private static func canExpress(_ id: String, _ names: String...) -> Bool {
        names.allSatisfy { name in
            guard let hazard = Catalogue.hazard(id), let subject = Subject(named: name) else {
                return false
            }
            if case .cannotExpress = hazard.expectation(on: subject) { return false }
            return true
        }
    }

    /// What stands left and right of the line in the middle.
    private static func halves(of lines: [String]) -> [[Substring]] {
        let rows = lines.filter { $0.contains("┃") }
            .map { $0.split(separator: "┃", maxSplits: 1, omittingEmptySubsequences: false) }
        return [rows.map { $0[0] }, rows.map { $0[1].dropFirst() }]
    }

    /// The letters of the threads that make the steps, which have to be numbered from 1 on.
    private static func steps(in half: [Substring]) -> String {
        var letters = ""
        for line in half {
            guard let match = line.firstMatch(of: /^ *(\d+) [│║ ]*([A-Z])/),
                match.1 == "\(letters.count + 1)"
            else { continue }
            letters += match.2
        }
        return letters
    }

    /// The schedule with every letter written as often as it counts.
    private static func letters(of schedule: Substring) -> String {
        schedule.matches(of: /([A-Z])(\d*)/).map { match in
            String(repeating: String(match.1), count: Int(match.2) ?? 1)
        }
        .joined()
    }
}
