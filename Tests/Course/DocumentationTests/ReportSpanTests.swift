import Foundation
import Graders
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

@testable import promise_lab

/// A report consists of spans. Their roles and threads are what colors are made of.
@Suite(.needsTheLab) struct ReportSpanTests {
    private static func trace(_ id: String, _ subject: Subject, _ schedule: String) throws
        -> Exploration.Trace
    {
        let race = try #require(Catalogue.hazard(id) as? any Race)
        return try Exploration.replay(schedule, options: race.options, race.scenario(on: subject))
    }

    private static func line(_ report: Report, _ text: String) throws -> [Span] {
        try #require(report.lines.first { $0.map(\.text).joined().contains(text) })
    }

    @Test(arguments: [20, 60, 100, 160])
    func `the plain table is the text of its spans, and fits`(width: Int) throws {
        for (id, subject, schedule) in [
            ("R01", Subject.naive, "SRRRSS"), ("R01", .threadSafe, "SR6"), ("R10", .oneLock, "FS"),
        ] {
            let trace = try Self.trace(id, subject, schedule)
            let report = trace.report(width: width)
            #expect(trace.table(width: width) == report.text { $0.text }, "\(id) on \(subject)")
            #expect(report.lines.allSatisfy { $0.map(\.text).joined().count <= width })
        }
    }

    @Test func `each thread has its spans, and a change and a remark have their roles`() throws {
        let report = try Self.trace("R01", .naive, "SRRRSS").report(width: 100)
        #expect(report.lines[0].filter { $0.role == .title }.map(\.thread) == [0, 1, nil, nil])
        let write = try Self.line(report, "result = .success(value)")
        #expect(write.contains { $0.role == .source && $0.thread == 1 })
        let change = try Self.line(report, "state = .fulfilled")
        #expect(change.contains { $0.role == .change && $0.text == "fulfilled" })
        let read = try Self.line(report, "if state == .pending")
        #expect(read.contains { $0.role == .source && $0.thread == 0 })
        #expect(read.contains { $0.role == .state && $0.text == "pending" })
        #expect(report.remarks("every continuation fails from here"))
        #expect(report.lines.last?.allSatisfy { $0.thread == nil } == true)
    }

    @Test func `the row of a thread that waits forever has a remark, and its bar a thread`() throws
    {
        let report = try Self.trace("R10", .oneLock, "FS").report(width: 100)
        let waits = try Self.line(report, " –")
        #expect(waits.contains { $0.role == .remark && $0.text == "–" })
        #expect(report.lines.contains { $0.contains { $0.text == "┌" && $0.thread == 0 } })
    }

    @Test func `many threads share a column, and each keeps its spans`() throws {
        let trace = try Exploration.replay("ABCD") { scenario in
            let log = Scenario.Log<String>()
            for name in ["A", "B", "C", "D"] {
                scenario.thread(name) { log.append("what \(name) has to say of it") }
            }
            scenario.state("entries") { "\(log.entries.count)" }
        }
        let report = trace.report(width: 60)
        #expect(report.text == trace.table(width: 60))
        for (thread, letter) in ["A", "B", "C", "D"].enumerated() {
            let spans = report.lines.flatMap(\.self).filter { $0.text == letter }
            #expect(!spans.isEmpty && spans.allSatisfy { $0.thread == thread })
        }
    }

    @Test func `two interleavings side by side keep the spans of both`() throws {
        let left = try Self.trace("R01", .naive, "SSRRRS")
        let right = try Self.trace("R01", .threadSafe, "SR6")
        let halves = Exploration.SideBySide(
            Exploration.SideBySide.Half(
                heading: ["Stage 1"], left, verdict: "✗ a handler is never called", .failure),
            Exploration.SideBySide.Half(
                heading: ["Stage 3"], right, verdict: "✓ every check holds", .success))
        let lines = halves.report(width: 140).lines
        for (thread, letter) in ["S", "R"].enumerated() {
            let rows = lines.map { $0.split { $0.text.contains("┃") } }.filter { $0.count == 2 }
            for half in 0..<2 {
                #expect(rows.contains { $0[half].contains(Span(letter, thread: thread)) })
            }
        }
        let spans = lines.flatMap(\.self)
        #expect(spans.contains { $0.role == .change && $0.text.contains("→ state fulfilled") })
        #expect(spans.contains { $0.role == .remark && $0.text.contains("← every continuation") })
        #expect(spans.contains { $0.role == .failure } && spans.contains { $0.role == .success })
    }

    @Test func `Markdown has the same cells as the table`() throws {
        let trace = try Self.trace("R01", .naive, "SRRRSS")
        let source = trace.report(width: 240).lines.flatMap(\.self).filter { $0.role == .source }
            .map { $0.text.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        #expect(source.count == trace.steps.count)
        for text in source { #expect(trace.markdown.contains("`\(text)`"), "\(text)") }
    }
}

/// Colors and widths of what the commands print.
@Suite(.needsTheLabElsewhere) struct TerminalTests {
    /// Commands that print tables, and a wrong answer.
    private static let commands = [
        ["show", "R01", "--stage", "1"], ["compare", "Stage1Naive", "Stage3ThreadSafe", "R01"],
        ["replay", "R01", "--stage", "1", "--schedule", "SRRRSS"],
        ["grade", "9", "--file", "Tests/Course/ExerciseTests/WrongAnswers/09/LooksFirst.swift"],
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
        #expect(colored.contains("\u{1B}[38;5;\(Terminal.threads[0])m"))
        for environment in [
            ["NO_COLOR": "1", "TERM": "xterm"], ["NO_COLOR": nil, "TERM": "dumb"],
        ] {
            let plain = try Self.run(command, environment)
            #expect(!plain.contains("\u{1B}"))
            #expect(plain == Self.withoutColors(colored))
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

    private static func withoutColors(_ text: String) -> String {
        text.replacing(#/\u{1B}\[[0-9;]*m/#, with: "")
    }

    // MARK: Contrast

    /// The relative luminance of one of xterm's colors from 16 to 255, as WCAG 2 defines it.
    private static func luminance(_ color: Int) -> Double {
        let levels = [0, 95, 135, 175, 215, 255]
        let cube = color - 16
        let channels =
            color >= 232
            ? Array(repeating: 8 + 10 * (color - 232), count: 3)
            : [levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6]]
        let linear = channels.map { channel in
            let share = Double(channel) / 255
            return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    /// The contrast with white or with black, whichever is smaller.
    private static func contrast(_ color: Int) -> Double {
        let luminance = luminance(color)
        return min(1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05)
    }

    @Test func `the colors of threads and of unchanged states are readable on white and on black`()
    {
        #expect(Set(Terminal.threads).count == 5)
        for color in Terminal.threads + [Terminal.grey] {
            #expect(Self.contrast(color) >= 4.5, "\(color)")
            let span =
                color == Terminal.grey
                ? Span("", .state) : Span("", thread: Terminal.threads.firstIndex(of: color))
            #expect(Terminal.code(of: span) == "38;5;\(color)")
        }
        // The former colors: the computation can fail.
        for color in [75, 208, 177, 43] { #expect(Self.contrast(color) < 2.9, "\(color)") }
    }

    // MARK: Width

    /// Every command that ends within seconds.
    private static let all =
        commands + Command.all.filter { !$0.isInternal }.map { ["help", $0.name] }
        + [
            ["help"], ["list"], ["aplus"], ["exercises"], ["exercise", "1"], ["exercise", "12"],
            ["demo", "http"], ["matrix", "--only", "H02,R05,C01"],
            ["matrix", "--steps", "--only", "H08,R06"],
            ["matrix", "--designs", "--only", "R02,C01"],
            ["show", "H08", "--stage", "1"], ["show", "H02", "--stage", "1"],
            ["show", "R05", "--stage", "1"], ["show", "R10", "--step", "A"],
            ["show", "R14", "--stage", "3"], ["show", "R16", "--stage", "3"],
            ["show", "R22", "--stage", "3"], ["show", "R02", "--design", "ActorStyle"],
            ["compare", "--step", "A", "--step", "B", "R09"],
            ["compare", "ActorStyle", "RepairedActor", "R02"],
            ["grade", "5", "--file", "Exercises/Answers/05/NSLock.swift"],
        ]

    /// Whether a line may be longer: it has a command to copy, a schedule or a path.
    private static func mayBeLong(_ line: Substring) -> Bool {
        line.contains(
            #/^  promise-lab |promise-lab [a-z]+ .*(R\d\d|Stage|FILE|\d)|--schedule |\w\w/\w/#)
    }

    private static func tooLong(_ text: String, _ width: Int) -> [Substring] {
        withoutColors(text).split(whereSeparator: \.isNewline)
            .filter { $0.count > width && !mayBeLong($0) }
    }

    @Test(arguments: [60, 80, 100], all)
    func `what a command prints fits the terminal`(width: Int, command: [String]) throws {
        let text = try Self.run(command, ["NO_COLOR": nil, "TERM": "xterm"], columns: width)
        #expect(text.count > 20)
        #expect(Self.tooLong(text, width) == [])
    }

    @Test(arguments: [60, 80, 100])
    func `the matrix fits the terminal`(width: Int) throws {
        let verdicts: [(Int, Int)] = [(1, 3), (1460, 1462), (0, 917)]
        for columns in [Matrix.stages, Matrix.steps, Matrix.designs] {
            let matrix = Matrix(columns: columns)
            let rows = Catalogue.all.map { hazard in
                var row = Matrix.Row(hazard: hazard, verdicts: [:])
                for (index, column) in columns.enumerated() {
                    let (failing, explored) = verdicts[index % 3]
                    let isRace = hazard is any Race
                    row.verdicts[column.subject] =
                        switch hazard.expectation(on: column.subject) {
                        case .survives: .survives(explored: isRace ? explored : nil, detail: "")
                        case .fails(let reason, _):
                            .fails(
                                [reason, reason], failing: isRace ? failing : nil,
                                explored: isRace ? explored : nil, detail: "")
                        case .cannotExpress(let why): .cannotExpress(why)
                        }
                }
                return row
            }
            let text = matrix.text(rows, width: width)
            #expect(Self.tooLong(text, width) == [])
            // No column is left out, and no mark is cut.
            for row in rows {
                let line = try #require(
                    text.split(separator: "\n").first { $0.hasPrefix("\(row.hazard.id)  ") })
                #expect(line.count { "✓✗–".contains($0) } >= columns.count, "\(line)")
            }
            // Only the table of the steps has no counts.
            #expect(text.contains("1460/1462") == (columns.count < 7))
        }
    }

    @Test func `a line that is too long is noticed`() {
        let line = String(repeating: "long ", count: 20)
        #expect(Self.tooLong("short\n\u{1B}[31m\(line)\u{1B}[0m\n", 60).count == 1)
        #expect(Self.tooLong("replay: promise-lab replay R01 --schedule \(line)\n", 60) == [])
    }

    @Test(arguments: [60, 100])
    func `the speed of the lab is printed in columns that do not touch`(width: Int) throws {
        let races = ["R01", "R05"].compactMap { Catalogue.hazard($0) as? any Race }
        let counts = "8112 of over 100,000 in 12345"
        let cells = races.map { _ in
            Subject.all(.stage).map { _ in [counts, "123,456 runs/s"] }
        }
        for hasTitles in [false, true] {
            let text = BenchCommand.table(
                races, Subject.all(.stage), cells, hasTitles: hasTitles, width: width)
            #expect(Self.tooLong(text, width) == [])
            #expect(text.ranges(of: counts).count == 6 && !text.contains("12345\(counts.first!)"))
        }
    }
}
