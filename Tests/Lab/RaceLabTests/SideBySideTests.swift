import Foundation
import RaceLabTesting
import Testing

@testable import RaceLab

/// Two interleavings side by side fit the width, and are complete.
@Suite("Side by side", .needsTheLab)
struct SideBySideTests {
    @Test("no line of the two halves exceeds the width", arguments: RenderingTests.failing)
    func width(of classic: Classic) throws {
        let trace = try Self.counterexample(of: classic)
        let other = try Self.counterexample(of: RenderingTests.wide)
        for width in [20, 33, 40, 60, 79, 80, 99, 100, 132, 300] {
            for line in Self.text(trace, other, width: width).split(separator: "\n") {
                #expect(line.columns <= width, "\(width): \(line)")
            }
        }
    }

    @Test(
        "both halves have every step, in order, with its thread",
        arguments: RenderingTests.failing)
    func complete(_ classic: Classic) throws {
        let trace = try Self.counterexample(of: classic)
        let other = try Exploration.replay("PPZZ", Classic.twoPhilosophersInTurn.describe)
        for (left, right) in [(trace, other), (other, trace)] {
            let text = Self.text(left, right)
            let halves = Self.halves(of: text)
            for (half, trace) in [(halves.left, left), (halves.right, right)] {
                let rows = Self.rows(half, trace)
                let letters = Exploration.Schedule.letters(for: trace.threads)
                let threads = trace.steps.map(\.thread) + trace.waiting.map(\.thread)
                let numbers =
                    trace.steps.indices.map { "\($0 + 1)" } + trace.waiting.map { _ in "–" }
                #expect(rows.map(\.number) == numbers)
                #expect(rows.map(\.letter) == threads.map { letters[$0] })
                #expect(half.contains("what it is called"))
                #expect(half.contains("✗ what is wrong"))
            }
        }
    }

    @Test("neither half is cut if there is room", arguments: RenderingTests.failing.dropLast())
    func uncut(_ classic: Classic) throws {
        let trace = try Self.counterexample(of: classic)
        let text = Self.text(trace, trace, width: 300)
        #expect(!text.contains("…"))
        for row in trace.rows {
            let parts = [row.cell.text, row.cell.site, row.mark ?? ""].filter { !$0.isEmpty }
            for part in parts { #expect(text.contains(part), "\(part)") }
        }
    }

    @Test("the state is shown where it changes, and nowhere else")
    func states() throws {
        let trace = try Exploration.replay("FSSF", Classic.lostUpdate.describe)
        let half = Self.halves(of: Self.text(trace, trace)).left
        #expect(half.filter { $0.hasPrefix("at first: ") } == ["at first: value 0"])
        #expect(half.filter { $0.contains("→") }.count == 1)
        #expect(half.filter { $0.hasSuffix("→ value 1") }.count == 1)
    }

    @Test("a state that changes under a lock is shown when it can be read again")
    func lockedStates() throws {
        let trace = try Exploration.replay("OOO") { scenario in
            let lock = NSLock()
            var value = 0
            scenario.thread("only") {
                lock.withLock {
                    value = 1
                    value = 2
                }
            }
            scenario.state("value") { lock.withLock { "\(value)" } }
        }
        let seen = trace.steps.map { $0.states != nil }
        #expect(seen == [false, false, true])
        #expect(trace.rows.dropFirst().map { !$0.changes.isEmpty } == seen)
        #expect(trace.rows[0].changes == [0])
    }

    @Test("a thread that holds a lock has a bar while others run")
    func bars() throws {
        let trace = try Exploration.replay("AAAABBBA", Classic.nested.describe)
        let half = Self.halves(of: Self.text(trace, trace)).left
        let places = Self.rows(half, trace).map(\.places)
        #expect(places == ["A ", "A ", "A ", "A ", "│B", "│B", "│B", "A "])
    }

    @Test("tables and verdicts begin on the same line in both halves")
    func level() throws {
        let short = try Exploration.replay("PPZZ", Classic.twoPhilosophersInTurn.describe)
        let long = try Self.counterexample(of: RenderingTests.wide)
        let text = Self.text(short, long)
        let (left, right) = Self.halves(of: text)
        #expect(
            left.firstIndex { $0.hasPrefix("✗") } == right.firstIndex { $0.hasPrefix("✗") })
        #expect(
            left.firstIndex { $0.hasPrefix(" 1") } == right.firstIndex { $0.hasPrefix("at first") })
    }

    // MARK: Reading it

    /// A step, or a thread that waits at the end.
    private struct Row {
        let number: String
        /// The letters of the threads, each at its place.
        let places: String

        var letter: Character? { places.first(where: \.isLetter) }

        init?(_ line: String, width: Int) {
            let words = line.split(separator: " ")
            guard let first = words.first, first == "–" || first.allSatisfy(\.isNumber) else {
                return nil
            }
            number = String(first)
            places = String(line.drop { $0 == " " }.dropFirst(number.count + 1).prefix(width))
            guard letter != nil else { return nil }
        }
    }

    private static func rows(_ half: [String], _ trace: Exploration.Trace) -> [Row] {
        let letters = Exploration.Schedule.letters(for: trace.threads)
        let width = letters.reduce(0) { $0 + $1.columns }
        return half.compactMap { Row($0, width: width) }
    }

    private static func halves(of text: String) -> (left: [String], right: [String]) {
        let lines = text.split(separator: "\n").map { $0.components(separatedBy: "┃") }
        return (
            lines.map { $0[0].trimmedAtEnd }, lines.map { String($0[1].dropFirst()).trimmedAtEnd }
        )
    }

    private static func text(
        _ left: Exploration.Trace, _ right: Exploration.Trace, width: Int = 100
    ) -> String {
        Exploration.SideBySide(half(left), half(right)).report(width: width).text
    }

    private static func half(_ trace: Exploration.Trace) -> Exploration.SideBySide.Half {
        Exploration.SideBySide.Half(
            heading: ["what it is called"], trace, verdict: "✗ what is wrong")
    }

    static func counterexample(of classic: Classic) throws -> Exploration.Trace {
        let exploration = classic.exploration { $0.maximumInterleavings = 20_000 }
        return try #require(try exploration.counterexample())
    }
}
