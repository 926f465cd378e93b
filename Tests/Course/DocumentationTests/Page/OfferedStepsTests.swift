import Foundation
import RaceLab
import SharedSuite
import Testing

@testable import LabPage
@testable import promise_lab

/// The orders that the page offers are run in the lab: after each step, the lab must show the step and
/// the state of the page, and at the end what was found.
@Suite(.needsTheLab) struct OfferedStepsTests {
    struct Case: CustomTestStringConvertible {
        let race: any Race
        let subject: Subject
        let scenario: Int

        var testDescription: String { "\(race.id) on \(subject), scenario \(scenario + 1)" }
    }

    private static func cases(of race: any Race, on subject: Subject) -> [Case] {
        (0..<race.recordedScenarios).map { Case(race: race, subject: subject, scenario: $0) }
    }

    /// By default a sample: among others, the rows where the order of releases decides which thread
    /// runs a `deinit`, and where different orders of equal steps find the same in another order.
    private static let cases: [Case] = {
        let isWhole = ProcessInfo.processInfo.environment["EVERY_CASE"] != nil
        let delicate = [
            "R01": Subject.all, "R02": [.handlers], "R03": [.handlers, .actor],
            "R14": [.threadSafe], "R17": [.threadSafe], "R20": [.threadSafe],
            "R21": [.threadSafe], "R22": [.threadSafe],
        ]
        return Catalogue.races.flatMap { race in
            BrowserTests.subjects(for: race).flatMap { subject in
                isWhole || delicate[race.id]?.contains(subject) == true
                    ? cases(of: race, on: subject) : []
            }
        }
    }()

    private static func replay(_ one: Case, _ schedule: Exploration.Schedule) throws
        -> Exploration.Trace
    {
        var options = one.race.options
        options.marksPointOfNoReturn = false
        return try Exploration.replay(
            schedule, options: options, one.race.scenario(one.scenario, on: one.subject))
    }

    @Test(arguments: cases)
    func `what the page offers is what the program does`(one: Case) throws {
        let graph = try RecordedRaces.exploration(of: one.race, one.scenario, on: one.subject).graph
        let contradictions = try Self.contradictions(in: graph, of: one, orders: 60)
        #expect(contradictions == [])
    }

    @Test func `a state that another order has is noticed`() throws {
        let race = try #require(Catalogue.hazard("R01") as? any Race)
        let one = Case(race: race, subject: .naive, scenario: 0)
        let graph = try RecordedRaces.exploration(of: race, on: .naive).graph
        #expect(try Self.contradictions(in: graph, of: one, orders: 60) == [])
        // The state after the first step is shown one step too late.
        var composed = graph
        let root = composed.nodes.count - 1
        for edge in composed.nodes[root].edges {
            for next in composed.nodes[edge.target].edges {
                composed.nodes[next.target].state = composed.nodes[root].state
            }
        }
        #expect(try Self.contradictions(in: composed, of: one, orders: 60) != [])
        // A thread has two next steps.
        var doubled = graph
        doubled.nodes[root].edges.append(doubled.nodes[root].edges[0])
        #expect(try Self.contradictions(in: doubled, of: one, orders: 60) != [])
    }

    /// Runs random orders, and returns where the lab shows something else.
    private static func contradictions(in graph: Graph, of one: Case, orders: Int) throws
        -> [String]
    {
        var found: [String] = []
        for (index, node) in graph.nodes.enumerated() {
            let choices = node.edges.map { edge in
                let label = graph.labels[edge.label]
                return [label.thread, label.mark.rawValue, label.isOld ? label.reads! : -1]
            }
            if Set(choices).count < choices.count { found.append("two steps at state \(index)") }
        }
        var random = Random()
        for _ in 0..<orders {
            let edges = order(of: graph, &random)
            let labels = edges.map { graph.labels[$0.label] }
            let schedule = Exploration.Schedule(labels.map(\.thread)) { step in
                let label = labels[step]
                return label.mark.inSchedule ?? (label.isOld ? .old(label.reads!) : nil)
            }
            let trace: Exploration.Trace
            do {
                trace = try replay(one, schedule)
            } catch {
                found.append("\(error)")
                continue
            }
            let difference = difference(between: trace, edges, in: graph, of: one)
            if let difference { found.append("\(trace.scheduleText): \(difference)") }
        }
        return found
    }

    private static func order(of graph: Graph, _ random: inout Random) -> [Graph.Edge] {
        var edges: [Graph.Edge] = []
        var node = graph.nodes.count - 1
        while let edge = graph.nodes[node].edges.randomElement(using: &random) {
            edges.append(edge)
            node = edge.target
        }
        return edges
    }

    private static func difference(
        between trace: Exploration.Trace, _ edges: [Graph.Edge], in graph: Graph, of one: Case
    ) -> String? {
        if trace.steps.count != edges.count { return "\(trace.steps.count) steps" }
        for (number, (step, edge)) in zip(trace.steps, edges).enumerated() {
            let label = graph.labels[edge.label]
            if (step.text, step.kind, step.failed) != (label.text, label.kind, label.failed) {
                return "step \(number + 1) is '\(step.text)', not '\(label.text)'"
            }
            let state = graph.nodes[edge.target].state
            let shown = state < 0 ? nil : graph.states[state]
            if step.states != shown {
                return "after step \(number + 1): \(step.states ?? []), not \(shown ?? [])"
            }
        }
        let last = edges.last?.target ?? graph.nodes.count - 1
        let ending = graph.endings[graph.nodes[last].ending]
        let judged = Set(
            trace.findings.filter { one.race.failingKinds.contains($0.kind) }.map(\.reason))
        let shown = Set(ending.findings.map { graph.findings[$0].reason })
        return judged == shown ? nil : "found: \(judged), not \(shown)"
    }
}

/// Numbers that look random, and are the same in each run: xorshift (Marsaglia 2003).
private struct Random: RandomNumberGenerator {
    private var state: UInt64 = 88_172_645_463_325_252

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
