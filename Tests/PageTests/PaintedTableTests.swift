import RaceLab
import SharedSuite
import Testing

@testable import promise_lab

/// The tables of a terminal: with colors they say the same as without.
@Suite struct PaintedTableTests {
    private static func trace(_ id: String, _ subject: Subject, _ schedule: String) throws -> Trace
    {
        let race = try #require(Catalogue.hazard(id) as? any Race)
        return try replay(schedule, options: race.options, race.scenario(on: subject))
    }

    @Test(arguments: [60, 100, 160])
    func `without its colors a painted table is the plain one`(width: Int) throws {
        for (id, subject, schedule) in [
            ("R01", Subject.naive, "SRRRSS"), ("R10", .oneLock, "AB"), ("R05", .naive, "FSFSFSRRR"),
        ] {
            guard let trace = try? Self.trace(id, subject, schedule) else { continue }
            let plain = trace.table(width: width)
            let painted = PaintedTable(trace, table: plain)
            #expect(painted.text { text, _ in text } == plain, "\(id)")
        }
    }

    @Test func `each thread has its color, and so have a change and the end`() throws {
        let trace = try Self.trace("R01", .naive, "SRRRSS")
        let table = PaintedTable(trace, width: 100).text { text, color in
            "[\(color.code)]\(text)[0]"
        }
        let lines = table.components(separatedBy: "\n")
        let second = try #require(lines.first { $0.contains("result = .success(value)") })
        #expect(second.contains("[\(Terminal.Colour.thread(1).code)]"))
        let third = try #require(lines.first { $0.contains("state = .fulfilled") })
        #expect(third.contains("[1]fulfilled"))
        let first = try #require(lines.first { $0.contains("if state == .pending") })
        #expect(first.contains("[\(Terminal.Colour.thread(0).code)]"))
        #expect(first.contains("[90]pending"))
        let deadlock = try Self.trace("R10", .oneLock, "AB")
        let red = PaintedTable(deadlock, width: 100).text { "\($1 == .red ? "RED" : "")\($0)" }
        #expect(red.contains("RED←"))
    }
}
