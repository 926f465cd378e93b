import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// The page Lab/RaceLab/RaceLab.docc/JSON.md matches the JSON that the lab writes.
@Suite("JSON", .needsTheLab)
struct JSONTests {
    /// The fields of a table of the page.
    private struct Schema {
        var fields: Set<String> = []
        var required: Set<String> = []
        /// The possible values of a field, where the page lists them.
        var values: [String: Set<String>] = [:]

        /// - Parameter heading: the one above the table.
        init(of heading: String) throws {
            let page = PagesTests.root.appending(path: "Lab/RaceLab/RaceLab.docc/JSON.md")
            let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
            let start = try #require(lines.firstIndex(of: heading))
            for row in lines[start...].drop(while: { !$0.hasPrefix("| `") })
                .prefix(while: { $0.hasPrefix("| `") })
            {
                let cells = row.components(separatedBy: " | ")
                let field = cells[0].dropFirst(3).dropLast()
                fields.insert(String(field))
                if !cells[1].contains("optional") { required.insert(String(field)) }
                let listed = cells[2].matches(of: /`"(\w+)"`/).map { String($0.1) }
                if !listed.isEmpty { values[String(field)] = Set(listed) }
            }
        }
    }

    /// The fields of a document, and the texts in them. Findings have a schema of their own.
    private struct Document {
        var fields: [String: [Any]] = [:]
        var missing: Set<String> = []
        var findings: [[String: Any]] = []

        init(_ json: String, _ schema: Schema) throws {
            let value = try JSONSerialization.jsonObject(with: Data(json.utf8))
            try add(#require(value as? [String: Any]), "", schema)
        }

        init(finding: [String: Any], _ schema: Schema) throws { try add(finding, "", schema) }

        private mutating func add(
            _ object: [String: Any], _ prefix: String, _ schema: Schema
        ) throws {
            let own = schema.required.filter {
                $0.hasPrefix(prefix) && !$0.dropFirst(prefix.count).contains { ".[".contains($0) }
            }
            missing.formUnion(own.filter { object[String($0.dropFirst(prefix.count))] == nil })
            for (key, value) in object {
                switch value {
                case let inner as [String: Any]: try add(inner, "\(prefix)\(key).", schema)
                case let list as [[String: Any]] where !list.isEmpty && key.hasSuffix("indings"):
                    fields["\(prefix)\(key)", default: []].append(key)
                    findings += list
                case let list as [[String: Any]] where !list.isEmpty:
                    fields["\(prefix)\(key)", default: []].append(key)
                    for object in list { try add(object, "\(prefix)\(key)[].", schema) }
                default: fields["\(prefix)\(key)", default: []].append(value)
                }
            }
        }
    }

    private static func explorations() -> [Exploration] {
        let cutOff = explore(
            options: .with { $0.maximumInterleavings = 1 }, Classic.lostUpdate.describe)
        var options = Exploration.Options()
        options.preemptionBound = 0
        options.failingKinds = [.forbiddenOutcome]
        let bounded = explore(options: options, Classic.atomicLostUpdate.describe)
        let attempts = explore(options: EarlyAttemptTests.options, EarlyAttemptTests.assumes)
        let numbers = explore { $0.thread("only") { _ = Int.random(in: 0..<8) } }
        let sampled = SamplingTests.methods.map {
            explore(options: SamplingTests.options($0, runs: 3), Classic.lostUpdate.describe)
        }
        let waits = explore { scenario in
            let queue = DispatchQueue(label: "queue")
            scenario.thread("only") { queue.sync { queue.sync {} } }
        }
        return [cutOff, bounded, attempts, numbers, waits, explore { _ in }] + sampled
            + Classic.all.map { explore($0.describe) }
    }

    @Test("the page lists the fields that are written, and no others")
    func fields() throws {
        let explorationSchema = try Schema(of: "## An exploration")
        let traceSchema = try Schema(of: "## A trace")
        let findingSchema = try Schema(of: "### A finding")
        var seen: (exploration: Set<String>, trace: Set<String>) = ([], [])
        func check(_ document: Document, _ schema: Schema) -> Set<String> {
            #expect(document.missing == [])
            for (field, values) in document.fields {
                guard let listed = schema.values[field] else { continue }
                for text in values.flatMap({ $0 as? [String] ?? [$0 as? String ?? ""] })
                where field != "steps[].states" {
                    #expect(listed.contains(text), "\(field) is \(text)")
                }
            }
            return Set(document.fields.keys)
        }
        for exploration in Self.explorations() {
            let document = try Document(exploration.json, explorationSchema)
            seen.exploration.formUnion(check(document, explorationSchema))
            var findings = document.findings
            let passing = exploration.passingSchedule.flatMap { try? exploration.replay($0) }
            for trace in [try? exploration.counterexample(), passing] {
                guard let trace else { continue }
                let document = try Document(trace.json, traceSchema)
                seen.trace.formUnion(check(document, traceSchema))
                findings += document.findings
            }
            for finding in findings {
                let document = try Document(finding: finding, findingSchema)
                #expect(check(document, findingSchema) == findingSchema.fields)
            }
        }
        #expect(seen.exploration == explorationSchema.fields)
        #expect(seen.trace == traceSchema.fields)
    }

    @Test("the page lists every kind of finding and of step")
    func kinds() throws {
        let kinds = Set(Exploration.Finding.Kind.allCases.map { "\($0)" })
        #expect(try Schema(of: "### A finding").values["kind"] == kinds)
        let steps = Set(Exploration.Trace.Step.Kind.allCases.map(\.rawValue))
        #expect(try Schema(of: "## A trace").values["steps[].kind"] == steps)
        let limits = Set(Exploration.Limit.allCases.map { "\($0)" })
        #expect(try Schema(of: "## An exploration").values["endedBy"] == limits)
    }

    @Test("the page for stepping through an exploration has words for every kind of step")
    func wordsOfKinds() throws {
        let file = PagesTests.root.appending(path: "Lab/LabPage/Resources/words.js")
        let script = try String(contentsOf: file, encoding: .utf8)
        let table = try #require(script.firstMatch(of: /const verbs = \{([^}]*)\}/)).1
        let words = table.matches(of: /(\w+): "/).map { String($0.1) }
        #expect(words.sorted() == Exploration.Trace.Step.Kind.allCases.map(\.rawValue).sorted())
    }

    @Test("every character survives", arguments: ["\"\\\n\r\t\u{0}\u{1F}", "é 互 🔒 \u{2028}", "/"])
    func characters(text: String) throws {
        let exploration = explore { scenario in
            let counter = Counter()
            scenario.thread("only") { counter.value = 1 }
            scenario.outcome { text }
        }
        let json = try JSONSerialization.jsonObject(with: Data(exploration.json.utf8))
        let outcomes = (json as? [String: Any])?["outcomes"] as? [[String: Any]]
        #expect(outcomes?.first?["outcome"] as? String == text)
    }
}
