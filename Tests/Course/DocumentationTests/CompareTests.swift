import Foundation
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

@testable import promise_lab

/// Two subjects side by side, as the command prints them.
@Suite("promise-lab compare", .needsTheLabElsewhere)
struct CompareTests {
    @Test(
        "any two subjects are side by side in 100 columns, and no step is missing",
        arguments: ["R01", "R05", "R06", "R09", "R10"])
    func everyPair(_ id: String) throws {
        let race = try #require(Catalogue.hazard(id) as? any Race)
        let sides = try (Subject.all(.design) + Subject.all(.stage)).filter { race.canRun(on: $0) }
            .map { try CompareCommand.side(race, $0) }
        #expect(sides.count >= 5)
        for (index, left) in sides.enumerated() {
            for right in sides[(index + 1)...] {
                let lines = CompareCommand.text(race, left, right).components(separatedBy: "\n")
                let who = "\(left.subject), \(right.subject)"
                #expect(lines.allSatisfy { $0.count <= 100 }, "\(who)")
                for (half, side) in zip(Self.halves(of: lines), [left, right]) {
                    #expect(Self.steps(in: half) == Self.letters(of: side.trace), "\(who)")
                    let verdicts = half.count { $0.hasPrefix("✗ ") || $0.hasPrefix("✓ ") }
                    #expect(verdicts == 1, "\(who)")
                }
            }
        }
    }

    @Test("the schedules below the halves reproduce them")
    func replays() throws {
        let result = try Commands.promiseLab(
            ["compare", "PromiseKitStyle", "Stage3ThreadSafe", "R06"])
        #expect(result.status == 0 && result.complaints.isEmpty)
        let halves = Self.halves(of: result.lines)
        let replays = result.lines.filter { $0.hasPrefix("replay: promise-lab ") }
        #expect(replays.count == 2)
        for (half, line) in zip(halves, replays) {
            let words = line.split(separator: " ").dropFirst(2).map(String.init)
            let replayed = try Commands.promiseLab(words)
            #expect(replayed.status == 0)
            let steps = replayed.lines.count { $0.contains(#/^ ?\d+  /#) }
            #expect(steps > 0)
            #expect(Self.steps(in: half).count == steps)
        }
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

    /// The parts to the left and right of the divider.
    private static func halves(of lines: [String]) -> [[Substring]] {
        let rows = lines.filter { $0.contains("┃") }
            .map { $0.split(separator: "┃", maxSplits: 1, omittingEmptySubsequences: false) }
        return [rows.map { $0[0] }, rows.map { $0[1].dropFirst() }]
    }

    /// The letters of the threads that make the steps, which must be numbered from 1.
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

    private static func letters(of trace: Exploration.Trace) -> String {
        let letters = Exploration.Schedule.letters(for: trace.threads)
        return String(trace.steps.map { letters[$0.thread] })
    }
}

extension Race {
    fileprivate func canRun(on subject: Subject) -> Bool {
        if case .cannotExpress = expectation(on: subject) { false } else { true }
    }
}
