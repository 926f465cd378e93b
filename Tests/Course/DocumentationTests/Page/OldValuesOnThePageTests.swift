import Foundation
import LabPage
import SharedSuite
import Synchronization
import Testing

/// Steps that read old values, on the page.
@Suite(.serialized, .sharesBrowser, .needsBrowser, .needsTheLab)
struct OldValuesOnThePageTests {
    private final class Flags: Sendable {
        let x = Atomic(0)
        let y = Atomic(0)

        func left() -> Int {
            x.store(1, ordering: .releasing)
            return y.load(ordering: .acquiring)
        }

        func right() -> Int {
            y.store(1, ordering: .releasing)
            return x.load(ordering: .acquiring)
        }
    }

    private final class Read {
        var left = 0
        var right = 0
    }

    @Test func `the published page has both doors of the Tutorial`() async throws {
        let answer = "document.getElementById('predict').textContent"
        let played = "[...document.querySelectorAll('.lesson li')].at(arguments[0]).className"
        try await BrowserTests().open("#door/acquire-release") { browser, address in
            try await browser.click("#predict-fails")
            try await browser.run("page.view.showMe()")
            #expect(try await browser.text(answer).contains("2 of 5 kinds of interleavings fail."))
            let schedule = try await browser.text("page.view.race.counterexample.join('')")
            try await browser.open("\(address)#door/acquire-release/\(schedule)")
            let table = try await browser.text("document.querySelector('.trace').textContent")
            let ending = try await browser.text(BrowserTests.verdict)
            #expect(ending.contains("both are inside"), "\(ending)")
            let why = "reads the old value 0: nothing orders the store at line 11 before this read"
            #expect(table.contains(why), "\(table)")
            // The same moves at the other door, as far as they are possible there.
            let other = "document.querySelector('a[href^=\"#door/sequential/~\"]').click()"
            try await browser.run(other)
            try await browser.click("#predict-survives")
            try await browser.run("page.view.showMe()")
            #expect(try await browser.text(answer).contains("None of the 3 kinds"))
            try await browser.open(address + "#races")
            #expect(try await browser.text(played, [-2]) == "fails")
            #expect(try await browser.text(played, [-1]) == "survives")
        }
    }

    @Test func `a thread has a button for each value, and the page counts as the lab does`()
        async throws
    {
        let recorded = try RecordedExploration("store buffering") { scenario in
            let (flags, read) = (Flags(), Read())
            scenario.thread("left") { read.left = flags.left() }
            scenario.thread("right") { read.right = flags.right() }
            scenario.outcome { "\(read.left), \(read.right)" }
            scenario.expect("0, 0", .forbidden, "neither saw the other one")
            for other in ["0, 1", "1, 0", "1, 1"] {
                scenario.expect(other, .acceptable, "one of them saw the other one")
            }
        }
        #expect(recorded.coverage == .all)
        let file = FileManager.default.temporaryDirectory
            .appending(path: "old-values-\(ProcessInfo.processInfo.processIdentifier).html")
        defer { try? FileManager.default.removeItem(at: file) }
        try recorded.html.write(to: file, atomically: true, encoding: .utf8)
        try await BrowserTests().open(page: file.absoluteString) { browser, _ in
            let kinds = try #require(
                try await browser.run(
                    """
                    return page.view.race.kinds().map(({ schedule }) => {
                      const { path, problem } = page.view.race.walk(schedule);
                      return problem === null && path.schedule === schedule ? schedule : problem;
                    });
                    """) as? [String])
            #expect(kinds.count == recorded.exploration.explored && kinds.count == 4, "\(kinds)")
            let failing = try kinds.filter { schedule in
                try !recorded.exploration.replay(schedule).findings.isEmpty
            }
            #expect(failing.count == 1, "\(failing)")
            let shown = try await browser.text("page.view.race.counterexample.join('')")
            #expect(shown.contains("~0"))
            let offered = try await browser.run(
                """
                const { view } = page;
                view.take("L"); view.take("R"); view.take("R");
                return [...document.querySelectorAll("button.early")]
                  .map(button => button.textContent.trim());
                """)
            let words = try #require(offered as? [String])
            #expect(words.count == 1, "\(words)")
            #expect(words.first?.hasPrefix("L~0 reads the old value 0: nothing orders") == true)
        }
    }

    private final class Message: Sendable {
        nonisolated(unsafe) var text = ""
        let isReady = Atomic(false)
    }

    @Test func `an arrow between relaxed operations is no promise that anything is ordered`()
        async throws
    {
        let recorded = try RecordedExploration("message passing") { scenario in
            let message = Message()
            scenario.thread("writer") {
                message.text = "hello"
                message.isReady.store(true, ordering: .relaxed)
            }
            scenario.thread("reader") {
                if message.isReady.load(ordering: .relaxed) { _ = message.text.count }
            }
        }
        let file = FileManager.default.temporaryDirectory
            .appending(path: "relaxed-\(ProcessInfo.processInfo.processIdentifier).html")
        defer { try? FileManager.default.removeItem(at: file) }
        try recorded.html.write(to: file, atomically: true, encoding: .utf8)
        try await BrowserTests().open(page: file.absoluteString) { browser, _ in
            try await browser.run(BrowserTests.reveal + "page.view.load('WWR')")
            let claim = "document.querySelector('.spacetime svg').getAttribute('aria-label')"
            let arrow = "document.querySelector('.spacetime .arrow.dashed title').textContent"
            #expect(
                try await browser.text(claim).hasSuffix("if the memory orderings are strong enough")
            )
            #expect(
                try await browser.text(arrow)
                    == "step 2 happens before step 3, if their memory orderings are strong enough")
            // Here the lab has found a race, and the page says that the picture does not show it.
            try await browser.run("page.view.load('WWRR')")
            #expect(try await browser.text(claim).contains("if the memory orderings"))
            let note = try await browser.text(
                "document.querySelector('.spacetime .note').textContent")
            #expect(note.contains("The lab found a data race"))
            // Without the second access there is none.
            try await browser.run("page.view.load('RWW')")
            #expect(try await browser.text(claim).hasSuffix("is ordered"))
        }
    }
}
