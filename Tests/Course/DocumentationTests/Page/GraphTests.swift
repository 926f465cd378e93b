import Foundation
import RaceLab
import RaceLabTesting
import SharedSuite
import Synchronization
import Testing

@testable import LabPage
@testable import promise_lab

private final class Number {
    var value = 0
}

/// The explorations on the page. The largest take half a minute each, so each is recorded once for all
/// tests.
enum RecordedRaces {
    private static let known = Mutex<[String: RecordedExploration]>([:])

    static func exploration(of race: any Race, _ scenario: Int = 0, on subject: Subject) throws
        -> RecordedExploration
    {
        try known.withLock { known in
            let name = "\(race.id) \(scenario) \(subject)"
            if let exploration = known[name] { return exploration }
            let exploration = try PageCommand.exploration(of: race, scenario, on: subject)
            known[name] = exploration
            return exploration
        }
    }
}

/// Checks the data of the page without a browser.
@Suite(.needsTheLab) struct GraphTests {
    private static func exploration(of id: String, on subject: Subject) throws
        -> RecordedExploration
    {
        let race = try #require(Catalogue.hazard(id) as? any Race)
        return try RecordedExploration(id, options: race.options, race.scenario(on: subject))
    }

    @Test(arguments: [
        ("R01", Subject.naive), ("R01", .handlers), ("R04", .naive), ("R08", .naive),
        ("R01", .repairedActor), ("R09", Subject.all(.step)[1]), ("R10", Subject.all(.step)[0]),
        ("R10", Subject.all(.step)[2]),
    ])
    func `the paths of the graph are the interleavings that were explored`(
        id: String, subject: Subject
    ) throws {
        let race = try #require(Catalogue.hazard(id) as? any Race)
        var options = race.options
        options.reduction = false
        let unreduced = explore(options: options, race.scenario(on: subject))
        let exploration = try Self.exploration(of: id, on: subject)
        let graph = exploration.graph
        let total = Self.paths(of: graph)
        var failing: [Int] = []
        for node in graph.nodes {
            let ending = node.ending < 0 ? nil : graph.endings[node.ending]
            let fails = ending?.findings.isEmpty == false ? 1 : 0
            failing.append(fails + node.edges.reduce(0) { $0 + failing[$1.target] })
        }
        #expect(exploration.coverage == .all)
        #expect(total.last == unreduced.explored)
        #expect(failing.last == unreduced.failing)
    }

    /// What a graph has if one kind of interleaving was not recorded: its orders are missing.
    @Test func `the orders of a kind that is not recorded are missing`() throws {
        let race = try #require(Catalogue.hazard("R01") as? any Race)
        let recorder = Recorder(race.exploration(on: .naive))
        var traces: [Exploration.Trace] = []
        try recorder.visitKinds { trace in
            traces.append(trace)
            return true
        }
        let counts = [0, 1].map { left in
            let completion = Completion(
                of: Array(traces.dropLast(left)), failingKinds: race.failingKinds,
                replay: recorder.interleaving(beginningWith:))
            return Self.paths(of: completion.merged()).last ?? 0
        }
        #expect(counts[0] == 23)
        #expect(counts[1] < 23)
    }

    /// For each node, the number of paths to a leaf.
    private static func paths(of graph: Graph) -> [Int] {
        graph.nodes.reduce(into: []) { total, node in
            let here = node.ending < 0 ? 0 : 1
            total.append(node.edges.reduce(here) { $0 + total[$1.target] })
        }
    }

    /// The explorations with the most data. ``BrowserTests`` compares the others.
    static let largest = [
        ("R17", Subject.threadSafe), ("R03", .handlers), ("R10", .handlers), ("R22", .threadSafe),
    ]

    @Test(
        arguments: [("R01", Subject.naive, 100), ("R14", .threadSafe, 103)]
            + largest.map {
                // Every order of thousands of states: 35 KB of data instead of 5.
                ($0.0, $0.1, 127)
            })
    func `one race is a small page`(id: String, subject: Subject, kilobytes: Int) throws {
        let race = try #require(Catalogue.hazard(id) as? any Race)
        let html = try RecordedRaces.exploration(of: race, on: subject).html
        #expect(html.utf8.count < kilobytes * 1000)
    }

    @Test func `a test can attach the page of its exploration`() throws {
        let html = try Self.exploration(of: "R01", on: .naive).html
        let attachment = Attachment(html, named: "R01.html")
        let written = try attachment.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(written == html)
    }

    @Test func `of very many kinds the first are recorded, and all of them counted`() throws {
        // Three threads, each with three steps at one object: 9! / (3! · 3! · 3!) orders.
        let exploration = try RecordedExploration("three by three") { scenario in
            let number = Number()
            for thread in 1...3 {
                scenario.thread("\(thread)") { for _ in 1...3 { number.value += 1 } }
            }
        }
        #expect(exploration.exploration.explored == 1_680)
        #expect(exploration.coverage == .first)
        #expect(Self.paths(of: exploration.graph).last == RecordedExploration.maximumKinds)
    }

    @Test func `nothing in the data can end its element`() throws {
        let html = try Hostile.exploration().html
        let scripts = html.components(separatedBy: "</script>").count
        let harmless = try Hostile.harmless().html
        #expect(scripts == harmless.components(separatedBy: "</script>").count)
        #expect(!html.contains("<img"))
        #expect(!html.contains("<b>"))
    }

    @Test func `an exploration without a verdict is an error, not a page`() {
        #expect(throws: Exploration.Inconclusive.self) {
            try RecordedExploration("nothing") { _ in }
        }
    }
}

/// Text that would be dangerous as markup, in every place where a scenario can put text.
enum Hostile {
    static let text =
        "</script><script>hacked = 1</script><img src=x onerror=\"hacked = 1\"><b>{{DATA}}'\u{2028}"

    final class Box { var value = text }

    static func exploration() throws -> RecordedExploration {
        try RecordedExploration(text, story: text, command: text) { scenario in
            let box = Box()
            let log = Scenario.Log<String>()
            scenario.thread("one\(text)") { box.value = text + "</b>" }  // <b>in the source</b>
            scenario.thread("two\(text)") { log.append(box.value) }
            scenario.check { try Scenario.require(log.entries == [text], text) }
            scenario.state(text) { box.value }
        }
    }

    static func harmless() throws -> RecordedExploration {
        try RecordedExploration("harmless") { scenario in
            let box = Box()
            scenario.thread("one") { box.value = "" }
            scenario.thread("two") { _ = box.value }
        }
    }
}
