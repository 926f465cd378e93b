import Foundation
import RaceLabTesting
import Testing

@testable import RaceLab

@Suite("Rendering", .needsTheLab)
struct RenderingTests {
    // MARK: Tables

    /// A scenario in which names, notes, states and source lines are wide.
    static let wide = Classic("wide", .fails(.failedCheck)) { scenario in
        let counter = Counter()
        let log = Scenario.Log<String>()
        scenario.thread("a thread with a name that is longer than most columns are wide") {
            counter.incrementInTwoSteps()
            log.append("notes: 互斥锁 🔒 | a\tb\nc `d` *e*")
        }
        scenario.thread("二番") { "長い長い長い長い長い長い長い長い長い長い".isEmpty ? () : (counter.value += 1) }
        scenario.thread("third") { for _ in 0..<1 { counter.value = 3 } }
        scenario.state("the value of the counter") { "\(counter.value)" }
        scenario.state("log") { log.entries.joined(separator: " ") }
        scenario.check { throw Scenario.CheckFailure("| never | content |") }
    }

    static let failing = Classic.all.filter { $0.expected != .survives } + [wide]

    @Test("no line of a table exceeds the width", arguments: failing)
    func width(of classic: Classic) throws {
        let exploration = classic.exploration { $0.maximumInterleavings = 20_000 }
        let trace = try #require(try exploration.counterexample())
        for width in [8, 12, 20, 33, 40, 60, 79, 80, 100, 132, 300] {
            for line in trace.table(width: width).split(separator: "\n") {
                #expect(line.columns <= width, "\(width): \(line)")
            }
            for line in exploration.text(width: width).split(separator: "\n") {
                #expect(line.columns <= max(20, width), "\(width): \(line)")
            }
        }
    }

    @Test("four threads with long lines share one column, in which they are not cut")
    func shared() throws {
        let exploration = explore(options: .with { $0.stopsAtFirstFailure = true }) { scenario in
            let counter = Counter()
            for name in ["first", "second", "third", "fourth"] {
                scenario.thread(name) { counter.value = counter.value + 1_000_000 }
            }
        }
        let table = try #require(try exploration.counterexample()).table()
        #expect(table.contains("counter.value = counter.value + 1_000_000"), "\(table)")
    }

    @Test("a table is not cut if there is room")
    func uncut() throws {
        let trace = try Exploration.replay("FSSF", Classic.lostUpdate.describe)
        #expect(!trace.table().contains("…"))
        #expect(trace.table(width: 40).contains("…"))
    }

    @Test("a held lock has a bar, from lock to unlock")
    func bars() throws {
        let trace = try Exploration.replay("PPZZ", Classic.twoPhilosophersInTurn.describe)
        let rows = trace.rows
        #expect(rows.map { $0.bars[0] } == ["┌", "└", "", ""])
        #expect(rows.map { $0.bars[1] } == ["", "", "┌", "└"])
        #expect(trace.steps.map(\.locksHeld) == [1, 0, 1, 0])
    }

    @Test("two held locks have a double bar, and steps of other threads are beside it")
    func doubleBars() throws {
        let trace = try Exploration.replay("AAAABBBA", Classic.nested.describe)
        #expect(trace.rows.map { $0.bars[0] } == ["", "┌", "║", "│", "│", "│", "│", "│", "└"])
        // Reading the state takes neither of them.
        #expect(!trace.table().contains("(locked)"))
    }

    @Test("in a deadlock the last rows show which thread waits for which")
    func waiting() throws {
        let trace = try Exploration.replay("PZ", Classic.twoPhilosophers.describe)
        #expect(
            trace.waiting.map(\.cause) == [
                .lock(holder: 1, takenInStep: 1), .lock(holder: 0, takenInStep: 0),
            ])
        #expect(trace.waiting.allSatisfy { $0.site?.line != $0.taken?.line })
        let table = trace.table()
        #expect(table.contains("← waits for the lock that 'Zeno' took in step 2"))
        #expect(table.contains("← waits for the lock that 'Plato' took in step 1"))
        #expect(trace.markdown.contains("| – | │ `second.mutex.withLock { _ in` "))
    }

    @Test("an exchange that fails is marked")
    func fails() throws {
        let outcome = try Exploration.replay("TTMMMTTTT", Classic.pushTwice.describe)
        #expect(outcome.steps.contains { $0.kind == .exchange && $0.failed })
        #expect(outcome.table().contains(" fails"))
    }

    @Test("the letter of a thread is uppercase, if the letter has an uppercase form")
    func letters() throws {
        #expect(Exploration.Schedule.letters(for: ["ßeta", "öl"]) == ["ß", "Ö"])
        #expect(try Exploration.Schedule("ßö", threads: ["ßeta", "öl"]).choices == [0, 1])
    }

    // MARK: Cutting

    @Test(
        "the first line of a thread's closure is left out only in that thread's column",
        arguments: [
            (#"scenario.thread("first") { counter.value += 1 }"#, "first", "counter.value += 1"),
            (#"s.thread("first") { for _ in 0..<3 { f() } }"#, "first", "for _ in 0..<3 { f() }"),
            (#"scenario.thread("first") { lock.withLock {"#, "first", "lock.withLock {"),
            (#"scenario.thread("first") {"#, "first", #"scenario.thread("first") {"#),
            (#"scenario.thread("first") {}"#, "first", #"scenario.thread("first") {}"#),
            (
                #"scenario.thread("first") { f() }"#, "second",
                #"scenario.thread("first") { f() }"#
            ),
            (
                #"if x { s.thread("first") { f() } }"#, "first",
                #"if x { s.thread("first") { f() } }"#
            ),
        ])
    func opening(line: String, thread: String, expected: String) {
        #expect(line.withoutOpening(of: thread).text == expected)
    }

    @Test(
        "a line is cut so that the access can be seen",
        arguments: [
            ("value += 1", 20, 0, "value += 1"),
            (
                "let ours = state.withLock { $0.settle() }", 34, 17,
                "…state.withLock { $0.settle() }"
            ),
            ("let ours = state.withLock { $0.settle() }", 20, 4, "let ours = state.wi…"),
            ("first(argument, other: second.value)", 20, 30, "…second.value)"),
            ("first(argument) + second + third + fourth", 20, 26, "…+ third + fourth"),
            ("if value == nil { shared.value = 1 }", 22, 31, "…shared.value = 1 }"),
            ("if value == nil { shared.value += 1 }", 22, 31, "…shared.value += 1 }"),
            ("if somebody.is.there == shared.value { }", 22, 21, "…== shared.value { }"),
        ])
    func cutting(line: String, width: Int, access: Int, expected: String) {
        let cut = line.cut(to: width, around: access)
        #expect(cut == expected)
        #expect(cut.columns <= width)
    }

    @Test("a cut is marked by an ellipsis, and the access remains visible")
    func cuttingAnywhere() {
        let line = "let a = bcd.efg(hij, klm: nop) + qrs.tuv { $0.wxy == 1234567890 }"
        for width in 12...line.count {
            for access in 0..<(line.count - 1) {
                let cut = line.cut(to: width, around: access)
                #expect(cut.columns <= width)
                if cut == line { continue }
                let begins = cut.hasPrefix("…"), ends = cut.hasSuffix("…")
                let middle = cut.drop { $0 == "…" }.prefix { $0 != "…" }
                #expect(begins || ends)
                #expect(begins || line.hasPrefix(middle))
                #expect(ends || line.hasSuffix(middle))
                let rest = line.dropFirst(access).prefix(2)
                #expect(middle.contains(rest), "\(width) \(access) \(cut)")
            }
        }
    }

    @Test(
        "columns of a terminal",
        arguments: [
            ("abc", 3), ("→…┌", 3), ("互斥", 4), ("🔒", 2), ("é", 1), ("e\u{301}", 1), ("", 0),
        ])
    func columns(text: String, expected: Int) {
        #expect(text.columns == expected)
        #expect(text.padded(to: 10).columns == 10)
        #expect(text.cut(to: 1).columns <= 1)
    }

    // MARK: Markdown

    @Test("every row of a table has the same number of cells", arguments: failing)
    func markdownCells(of classic: Classic) throws {
        let trace = try SideBySideTests.counterexample(of: classic)
        let blocks = trace.markdown.components(separatedBy: "\n\n")
        for block in blocks where block.hasPrefix("|") {
            let counts = block.split(separator: "\n").map { row in
                row.replacing("\\\\", with: "").replacing("\\|", with: "").count { $0 == "|" }
            }
            #expect(Set(counts).count == 1, "\(block)")
        }
    }

    @Test(
        "code is not changed",
        arguments: [
            ("a || b", "`a \\|\\| b`"), ("`x`", "`` `x` ``"), ("a `b` c", "``a `b` c``"),
            ("", ""), ("a\nb", "`a b`"),
        ])
    func markdownCode(text: String, expected: String) {
        #expect(text.markdownCode == expected)
    }

    @Test(
        "text is not changed",
        arguments: [
            ("a < b & *c*", "a &lt; b &amp; \\*c\\*"), ("x|y_z", "x\\|y\\_z"), ("a\nb", "a b"),
        ])
    func markdownText(text: String, expected: String) {
        #expect(text.markdownText == expected)
    }

    // MARK: JSON

    @Test("JSON is valid, agrees with the text, and names no path", arguments: failing)
    func json(of classic: Classic) throws {
        let exploration = classic.exploration { $0.maximumInterleavings = 20_000 }
        let trace = try #require(try exploration.counterexample())
        let reportObject = try object(exploration.json)
        #expect(reportObject["version"] as? Int == 2)
        #expect(reportObject["explored"] as? Int == exploration.explored)
        #expect((reportObject["findings"] as? [Any])?.count == exploration.findings.count)
        let traceObject = try object(trace.json)
        #expect(traceObject["schedule"] as? String == trace.scheduleText)
        let steps = try #require(traceObject["steps"] as? [[String: Any]])
        #expect(steps.map { $0["text"] as? String } == trace.steps.map(\.text))
        #expect(steps.compactMap { $0["file"] as? String }.allSatisfy { $0.hasPrefix("Tests/") })
        for text in [
            exploration.json, trace.json, exploration.text(), trace.table(), trace.markdown,
        ] {
            #expect(!text.contains(PagesTests.root.path))
        }
    }

    private func object(_ json: String) throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return try #require(value as? [String: Any])
    }

    @Test("notes of one replay do not appear in another")
    func notes() {
        let mixed = Scenario.Log<String>()
        DispatchQueue.concurrentPerform(iterations: 40) { index in
            let name = index.isMultiple(of: 2) ? "even" : "odd"
            let trace = try? Exploration.replay("AABB") { scenario in
                let log = Scenario.Log<String>()
                for thread in ["thread 1", "thread 2"] {
                    scenario.thread(thread) {
                        log.append("\(name) 1")
                        log.append("\(name) 2")
                    }
                }
            }
            let expected = ["\(name) 1", "\(name) 2", "\(name) 1", "\(name) 2"]
            if trace?.steps.map(\.text) != expected { mixed.append(name) }
        }
        #expect(mixed.entries.isEmpty)
    }
}

extension Classic {
    static let twoPhilosophersInTurn = Classic("in turn", .survives) { scenario in
        let forks = [Fork(), Fork()]
        for name in ["Plato", "Zeno"] {
            let philosopher = Philosopher(first: forks[0], second: forks[1])
            scenario.thread(name) { philosopher.dine {} }
        }
    }

    static let nested = Classic("nested", .survives) { scenario in
        let (outer, inner, counter, other) = (Fork(), Fork(), Counter(), Counter())
        scenario.thread("one") {
            outer.mutex.withLock { _ in
                inner.mutex.withLock { _ in counter.increment() }
                counter.incrementInTwoSteps()
            }
        }
        scenario.thread("other") {
            other.increment()
            other.incrementInTwoSteps()
        }
        scenario.state("value") { "\(counter.value)" }
    }

    static let pushTwice = Classic("push twice", .survives) { scenario in
        let stack = TreiberStack()
        scenario.thread("takes") { stack.push(0) }
        scenario.thread("moves") { stack.push(1) }
    }
}

@Suite("Declared outcomes", .needsTheLab)
struct OutcomeTests {
    private func incrementing(
        _ options: Exploration.Options = .everyOrder, _ declare: @escaping (Scenario) -> Void
    ) -> Exploration {
        explore(options: options) { scenario in
            let counter = AtomicCounter()
            scenario.threads("first", "second") { counter.incrementInTwoSteps() }
            scenario.outcome { "\(counter.value.load(ordering: .relaxed))" }
            declare(scenario)
        }
    }

    @Test("are counted, and not judged unless one is declared")
    func undeclared() {
        let exploration = incrementing { _ in }
        #expect(exploration.survives)
        #expect(exploration.outcomes == ["1": 4, "2": 2])
        #expect(exploration.allOutcomes.map(\.outcome) == ["1", "2"])
    }

    @Test("an empty one is a word in the table")
    func empty() {
        let exploration = incrementing { scenario in scenario.outcome { "" } }
        #expect(exploration.text().contains("\n(empty)        6\n"), "\(exploration.text())")
    }

    @Test("forbidden ones are failures, with their explanation")
    func forbidden() {
        let exploration = incrementing {
            $0.expect("2", .acceptable, "right")
            $0.expect("1", .forbidden, "lost")
        }
        #expect(exploration.failing == 4)
        #expect(exploration.findings.map(\.kind) == [.forbiddenOutcome])
        #expect(exploration.findings.first?.reason == "'1': lost")
    }

    @Test("undeclared ones are failures once any is declared")
    func notDeclared() {
        let exploration = incrementing { $0.expect("2", .acceptable, "right") }
        #expect(exploration.failing == 4)
        #expect(exploration.findings.first?.reason == "'1' is none of the outcomes declared")
        #expect(exploration.text().contains("not declared"))
    }

    @Test("interesting ones are no failures")
    func interesting() {
        let exploration = incrementing {
            $0.expect("2", .acceptable, "right")
            $0.expect("1", .interesting, "lost")
            $0.expect("0", .interesting, "odd")
        }
        #expect(exploration.survives)
        #expect(exploration.unreached.isEmpty)
        #expect(exploration.allOutcomes.map(\.count) == [2, 4, 0])
    }

    @Test("acceptable ones that are never reached are reported, if the exploration is complete")
    func unreached() {
        let declare = { (scenario: Scenario) in
            scenario.expect("1", .acceptable, "lost")
            scenario.expect("2", .acceptable, "right")
            scenario.expect("3", .acceptable, "too many")
        }
        let exploration = incrementing(Exploration.Options(), declare)
        #expect(exploration.survives)
        #expect(exploration.unreached.map(\.outcome) == ["3"])
        #expect(exploration.text().contains("never reached"))
        for bound: Exploration.Options in [
            .with { $0.maximumInterleavings = 2 }, .with { $0.preemptionBound = 0 },
        ] {
            #expect(incrementing(bound, declare).unreached.isEmpty)
        }
    }

    @Test("forbidden ones are other findings if they do not count as failures")
    func notJudged() {
        let exploration = incrementing(.with { $0.failingKinds = [.deadlock] }) {
            $0.expect("1", .forbidden, "lost")
        }
        #expect(exploration.survives)
        #expect(exploration.otherFindings.map(\.kind) == [.forbiddenOutcome, .forbiddenOutcome])
    }
}
