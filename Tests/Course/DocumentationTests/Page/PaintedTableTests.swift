import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

@testable import promise_lab

/// Colored tables contain the same text as plain ones.
@Suite(.needsTheLab) struct PaintedTableTests {
    private static func trace(_ id: String, _ subject: Subject, _ schedule: String) throws
        -> Exploration.Trace
    {
        let race = try #require(Catalogue.hazard(id) as? any Race)
        return try Exploration.replay(schedule, options: race.options, race.scenario(on: subject))
    }

    /// Replaces a color by a character that a test can read.
    private static func marked(_ text: String, _ color: Terminal.Colour) -> String {
        "<\(color.code)>\(text)</>"
    }

    private static let examples = [
        ("R01", Subject.naive, "SRRRSS"), ("R01", .threadSafe, "SR6"), ("R10", .oneLock, "FS"),
    ]

    @Test(arguments: [20, 60, 100, 160])
    func `without its colors a painted table is the plain one`(width: Int) throws {
        for (id, subject, schedule) in Self.examples {
            let plain = try Self.trace(id, subject, schedule).table(width: width)
            #expect(PaintedTable(plain).text { text, _ in text } == plain, "\(id) on \(subject)")
        }
    }

    @Test func `each thread has its color, and so have a change and the end`() throws {
        let trace = try Self.trace("R01", .naive, "SRRRSS")
        let lines = PaintedTable(trace.table(width: 100)).text(Self.marked)
            .components(separatedBy: "\n")
        let first = Terminal.Colour.thread(0).code
        let second = Terminal.Colour.thread(1).code
        #expect(lines[0].contains("<\(first)>") && lines[0].contains("<\(second)>"))
        let write = try #require(lines.first { $0.contains("result = .success(value)") })
        #expect(write.contains("<\(second)>  result = "))
        let change = try #require(lines.first { $0.contains("state = .fulfilled") })
        #expect(change.contains("<1>fulfilled"))
        let read = try #require(lines.first { $0.contains("if state == .pending") })
        #expect(read.contains("<\(first)>  if state"))
        #expect(read.contains("<90>pending"))
        #expect(lines.contains { $0.contains("<31>") && $0.contains("← ") })
        // The text below the table belongs to no thread.
        #expect(lines.last?.hasPrefix("Line numbers refer") == true)
    }

    @Test
    func `where a thread waits forever, the row is red and its bar has the color of a thread`()
        throws
    {
        let table = try Self.trace("R10", .oneLock, "FS").table(width: 100)
        let painted = PaintedTable(table).text(Self.marked)
        #expect(painted.contains("<31> –"))
        #expect(painted.contains("<\(Terminal.Colour.thread(0).code)>┌ "))
    }

    @Test func `many threads share a column, and each keeps its color`() throws {
        let table = try Self.manyThreads().table(width: 60)
        let painted = PaintedTable(table).text(Self.marked)
        #expect(PaintedTable(table).text { text, _ in text } == table)
        for thread in 0..<4 {
            let code = Terminal.Colour.thread(thread).code
            #expect(painted.contains("<\(code)>\("ABCD".map(String.init)[thread])</>"))
        }
    }

    private static func manyThreads() throws -> Exploration.Trace {
        try Exploration.replay("ABCD") { scenario in
            let log = Scenario.Log<String>()
            for name in ["A", "B", "C", "D"] {
                scenario.thread(name) { log.append("what \(name) has to say of it") }
            }
            scenario.state("entries") { "\(log.entries.count)" }
        }
    }

    // MARK: Side by side

    @Test(arguments: [60, 100, 200])
    func `compare says the same with and without colors`(width: Int) throws {
        let (plain, threads) = try Self.halves(width: width)
        #expect(PaintedHalves(plain, threads: threads).text { text, _ in text } == plain)
    }

    @Test func `compare has the colors of both interleavings`() throws {
        let (plain, threads) = try Self.halves(width: 140)
        let painted = PaintedHalves(plain, threads: threads).text(Self.marked)
        let lines = painted.components(separatedBy: "\n")
        for thread in 0..<2 {
            let code = Terminal.Colour.thread(thread).code
            let letter = "SR".map(String.init)[thread]
            let beginning = "<\(code)>\(letter)</>"
            let rows = lines.filter { $0.contains(beginning) }
            #expect(rows.contains { $0.prefix { $0 != "┃" }.contains(beginning) })
            #expect(rows.contains { $0.drop { $0 != "┃" }.contains(beginning) })
            #expect(painted.contains("<\(code)>\(letter) \(threads.left[thread])"))
        }
        #expect(lines.contains { $0.contains("<1>") && $0.contains("→ state fulfilled") })
        #expect(lines.contains { $0.contains("<31>") && $0.contains("← every continuation") })
        #expect(lines.contains { $0.contains("<31>✗ a handler is never called") })
        #expect(lines.contains { $0.contains("<32>✓ every check holds") })
    }

    private static func halves(width: Int) throws -> (String, (left: [String], right: [String])) {
        let left = try trace("R01", .naive, "SSRRRS")
        let right = try trace("R01", .threadSafe, "SR6")
        let text = Exploration.SideBySide(
            Exploration.SideBySide.Half(
                heading: ["Stage 1"], left, verdict: "✗ a handler is never called"),
            Exploration.SideBySide.Half(heading: ["Stage 3"], right, verdict: "✓ every check holds")
        ).text(width: width)
        return (text, (left.threads, right.threads))
    }

}

/// Colors and widths of what the commands print.
@Suite(.needsTheLabElsewhere) struct TerminalTests {
    /// Commands that print tables, and a wrong answer.
    private static let commands = [
        ["show", "R01", "--stage", "1"], ["compare", "Stage1Naive", "Stage3ThreadSafe", "R01"],
        ["replay", "R01", "--stage", "1", "--schedule", "SRRRSS"],
        ["grade", "5", "--file", "Course/Graders/Stubs/Exercise05.swift"],
    ]

    @Test(arguments: commands)
    func `a pipe gets no colors`(command: [String]) throws {
        let result = try Commands.promiseLab(command, environment: ["NO_COLOR": nil])
        #expect(result.output.contains("✗"))
        #expect(!result.output.contains("\u{1B}"))
    }

    @Test(arguments: commands)
    func `a terminal gets colors, unless the environment says no`(command: [String]) throws {
        let colored = try Self.run(command, ["NO_COLOR": nil, "TERM": "xterm"])
        #expect(colored.contains("\u{1B}[31m"))
        for environment in [
            ["NO_COLOR": "1", "TERM": "xterm"], ["NO_COLOR": nil, "TERM": "dumb"],
        ] {
            let plain = try Self.run(command, environment)
            #expect(!plain.contains("\u{1B}"))
            #expect(plain == colored.replacing(#/\u{1B}\[[0-9;]*m/#, with: ""))
        }
    }

    @Test(arguments: commands)
    func `a wide terminal is used`(command: [String]) throws {
        let widths = try [60, 100, 200].map { columns in
            let text = try Self.run(command, ["NO_COLOR": "1"], columns: columns)
            return text.split(separator: "\r\n").filter { $0.contains(#/^ *[0-9]+ /#) }.map(\.count)
                .max() ?? 0
        }
        #expect(widths[0] <= widths[1] && widths[1] <= 100, "\(widths)")
        #expect(widths[1] < widths[2] && widths[2] <= 200, "\(widths)")
    }

    private static func run(
        _ command: [String], _ environment: [String: String?], columns: Int = 100
    ) throws -> String {
        try Commands.promiseLab(
            command, environment: environment, terminal: TestTerminal(columns: columns)
        ).output
    }
}
