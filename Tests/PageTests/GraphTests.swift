import Foundation
import RaceLab
import SharedSuite
import StageTesting
import Testing

@testable import LabPage
@testable import promise_lab

/// The data of the page, without a browser.
@Suite struct GraphTests {
    private static func exploration(of id: String, on subject: Subject) throws -> Exploration {
        let race = try #require(Catalogue.hazard(id) as? any Race)
        return try Exploration(id, options: race.options, race.scenario(on: subject))
    }

    @Test(arguments: [("R01", Subject.naive), ("R01", .handlers), ("R04", .naive), ("R08", .naive)])
    func `the paths of the graph are the interleavings that were explored`(
        id: String, subject: Subject
    ) throws {
        let race = try #require(Catalogue.hazard(id) as? any Race)
        var options = race.options
        options.reduction = false
        let report = explore(options: options, race.scenario(on: subject))
        let exploration = try Self.exploration(of: id, on: subject)
        let graph = exploration.graph
        var total: [Int] = []
        var failing: [Int] = []
        for node in graph.nodes {
            let ending = node.ending < 0 ? nil : graph.endings[node.ending]
            let ends = ending == nil ? 0 : 1
            let fails = ending?.findings.isEmpty == false ? 1 : 0
            total.append(ends + node.edges.reduce(0) { $0 + total[$1.target] })
            failing.append(fails + node.edges.reduce(0) { $0 + failing[$1.target] })
        }
        #expect(exploration.coverage == .all)
        #expect(total.last == report.explored)
        #expect(failing.last == report.failing)
    }

    @Test func `of many interleavings only one of each kind is recorded`() throws {
        let exploration = try Self.exploration(of: "R05", on: .naive)
        #expect(exploration.coverage == .kinds)
        #expect(exploration.kinds.count == exploration.report.explored)
    }

    @Test func `a step into an interleaving that is not counted is marked`() throws {
        let race = try #require(Catalogue.hazard("R01") as? any Race)
        var tree = Tree(judging: race.judging)
        let scenario = race.scenario(on: .naive)
        tree.add(try replay("SSSRRRRRRR", options: race.options, scenario))
        tree.add(try replay("SRRRSS", options: race.options, scenario), isCounted: false)
        let graph = tree.merged()
        let extra = graph.nodes.flatMap(\.edges).filter { !$0.isCounted }
        #expect(extra.map { graph.threads[graph.labels[$0.label].thread] }.last == "resolver")
        #expect(extra.count == 5)
    }

    /// Those with the most data: ``BrowserTests`` compares the others with them.
    static let largest = [
        ("R17", Subject.threadSafe), ("R03", .handlers), ("R10", .handlers), ("R02", .handlers),
    ]

    @Test(arguments: [("R01", Subject.naive), ("R14", .threadSafe)] + largest)
    func `one race is a page of less than 100 KB`(id: String, subject: Subject) throws {
        let race = try #require(Catalogue.hazard(id) as? any Race)
        let html = try PageCommand.exploration(of: race, on: subject).html
        #expect(html.utf8.count < 100_000)
    }

    @Test func `a test can attach the page of its exploration`() throws {
        let html = try Self.exploration(of: "R01", on: .naive).html
        let attachment = Attachment(html, named: "R01.html")
        let written = try attachment.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(written == html)
    }

    @Test func `of very many kinds the first are recorded, and all of them counted`() throws {
        let exploration = try Self.exploration(of: "R17", on: .threadSafe)
        #expect(exploration.coverage == .first)
        #expect(exploration.report.explored > Exploration.maximumInterleavings)
        #expect(exploration.kinds.count == Exploration.maximumInterleavings)
    }

    @Test func `nothing in the data can end its element`() throws {
        let page = Page(title: Hostile.text, explorations: ["": try Hostile.exploration()])
        let html = page.html
        let scripts = html.components(separatedBy: "</script>").count
        let harmless = Page(title: "harmless", explorations: ["": try Hostile.harmless()]).html
        #expect(scripts == harmless.components(separatedBy: "</script>").count)
        #expect(!html.contains("<img"))
        #expect(!html.contains("<b>"))
    }

    @Test func `an exploration without a verdict is an error, not a page`() {
        #expect(throws: Obstacle.self) { try Exploration("nothing") { _ in } }
    }
}

/// Text that would do harm if it became markup, wherever a scenario can put text.
enum Hostile {
    static let text =
        "</script><script>hacked = 1</script><img src=x onerror=\"hacked = 1\"><b>{{DATA}}'\u{2028}"

    final class Box { var value = text }

    static func exploration() throws -> Exploration {
        try Exploration(text, story: text, command: text) { scenario in
            let box = Box()
            let log = Log<String>()
            scenario.thread("one\(text)") { box.value = text + "</b>" }  // <b>in the source</b>
            scenario.thread("two\(text)") { log.append(box.value) }
            scenario.check { try require(log.entries == [text], text) }
            scenario.state(text) { box.value }
        }
    }

    static func harmless() throws -> Exploration {
        try Exploration("harmless") { scenario in
            let box = Box()
            scenario.thread("one") { box.value = "" }
            scenario.thread("two") { _ = box.value }
        }
    }
}
