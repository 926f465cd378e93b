import Foundation
import RaceLab
import SharedSuite
import Testing

/// The opening of the page, in a real browser.
@Suite(.serialized, .sharesBrowser, .needsBrowser)
struct OpeningTests {
    private let page = BrowserTests()

    @Test func `each order of R01 is one of the six orders of moves, kind to kind`() async throws {
        try await page.open("#play/1") { browser, _ in
            let rows = try #require(
                try await browser.run(
                    """
                    const race = page.raceOf("R01/stage1");
                    return race.paths().map(path => [coarse(path), path.kind, String(path.fails), path.schedule]);
                    """) as? [[String]])
            #expect(rows.count == 23)
            let race = try #require(Catalogue.hazard("R01") as? any Race)
            var recorded: Set<String> = []
            try explore(
                options: Self.everyOrder(race.options), race.scenario(on: .naive)
            ).visitTraces { trace in
                recorded.insert(trace.scheduleText)
                return true
            }
            #expect(Set(rows.map { $0[3] }) == recorded)
            #expect(
                Set(rows.map { $0[0] }) == ["AABB", "ABAB", "ABBA", "BAAB", "BABA", "BBAA"])
            // All orders of the steps that are one order of the moves are of one kind.
            let kinds = Dictionary(grouping: rows, by: { $0[0] }).mapValues {
                Set($0.map { $0[1] })
            }
            #expect(kinds.values.allSatisfy { $0.count == 1 }, "\(kinds)")
            #expect(Set(kinds.values).count == 3)
            #expect(kinds["AABB"] == kinds["ABAB"])
            #expect(kinds["BAAB"] == kinds["BABA"] && kinds["BABA"] == kinds["BBAA"])
            #expect(Set(rows.filter { $0[2] == "true" }.map { $0[0] }) == ["ABBA"])
        }
    }

    private static func everyOrder(_ options: Exploration.Options) -> Exploration.Options {
        var options = options
        options.reduction = false
        return options
    }

    @Test func `a stranger meets the opening, plays it with the keyboard, and resumes it`()
        async throws
    {
        try await page.open { browser, address in
            let heading = "document.querySelector('h1').textContent"
            let told = "document.querySelector('.told').textContent"
            #expect(try await browser.text(heading) == "Two people and a mailbox")
            try await browser.press(["a", "b", "b", "a"])
            #expect(try await browser.text(told).contains("the letter is lost"))
            let said = try await browser.text("document.getElementById('live').textContent")
            #expect(said.contains("the letter is lost"))
            try await browser.press(.right)
            let next = "Can the letter get lost?"
            for _ in 1...1000 where try await browser.text(heading) != next {}
            #expect(try await browser.text(heading) == next)
            for order in ["aabb", "abab", "baab", "baba", "bbaa"] {
                try await browser.press(order.map(String.init))
                #expect(try await browser.text(told).contains("Ana has her letter"), "\(order)")
                try await browser.click("#again")
            }
            #expect(try await browser.text(heading) == "You have found all 6 orders")
            // It is resumed where it was left.
            try await browser.open(address)
            #expect(try await browser.text(heading) == "You have found all 6 orders")
        }
    }

    @Test func `by touch alone, each screen can be played, and there are at most twelve`()
        async throws
    {
        try await page.open("#play/1") { browser, address in
            try await browser.resize(width: 390, height: 844)
            let count = Int(try await browser.text("page.view.screens.length")) ?? 99
            #expect(count <= 12)
            for number in 1...count {
                try await browser.open(address + "#play/\(number)")
                #expect(try await browser.text("page.view.number") == "\(number - 1)")
                for _ in 0..<12 {
                    let button = try await browser.text(
                        "document.querySelector('.go:not([aria-disabled])')?.id ?? ''")
                    if button.isEmpty { break }
                    try await browser.click("#\(button)")
                }
                let isOver = "document.querySelector('.go') === null"
                #expect(try await browser.text(isOver) == "true", "screen \(number)")
                let overflow = try await browser.text(
                    "document.documentElement.scrollWidth - document.documentElement.clientWidth")
                #expect(overflow == "0", "screen \(number)")
            }
        }
    }

    @Test func `the lock leaves two orders, its keys a deadlock, and giving them back none`()
        async throws
    {
        try await page.open("#play/6") { browser, address in
            let told = "document.querySelector('.told').textContent"
            try await browser.press(["a", "b"])
            #expect(
                try await browser.text(told).contains(
                    "Ana waits for key 2, which Ben has, and Ben waits for key 1, which Ana has"))
            try await browser.open(address + "#play/7")
            for _ in 1...7 { try await browser.press(["a", "b"]) }
            #expect(try await browser.text(told).contains("Both are done"))
            #expect(try await browser.text("page.view.locked.race.total.at(-1)") == "2")
        }
    }

    @Test func `the opening leads to the races, and they remember what was played`() async throws {
        try await page.open("#play/8") { browser, address in
            try await browser.open(address)
            let progress = "document.querySelector('progress').value"
            #expect(try await browser.text(progress) == "0")
            try await browser.open(address + "#R01/stage1")
            try await browser.click("#predict-fails")
            try await browser.run("page.view.showMe()")
            try await browser.open(address)
            #expect(try await browser.text(progress) == "1")
            let races = try await browser.texts(
                "[...document.querySelectorAll('.lesson a')].map(link => link.hash.slice(1))")
            let missing = try await browser.texts(
                "arguments[0].filter(id => page.dataOf(id) === null)", [races])
            #expect(races.count > 20 && missing == [])
        }
    }
}
