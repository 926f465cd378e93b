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
            let exploration = explore(
                options: Self.everyOrder(race.options), race.scenario(on: .naive))
            try Recorder(exploration).visitKinds { trace in
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

    @Test func `each move is announced once, and the focus stays where the next one is made`()
        async throws
    {
        try await page.open("#play/1") { browser, _ in
            let said = "document.getElementById('live').textContent"
            let focused = "document.activeElement.id || document.activeElement.tagName"
            for _ in 1...20 where try await browser.text(focused) != "move-0" {
                try await browser.press(.tab)
            }
            try await browser.press(.enter)
            #expect(try await browser.text(said) == "Ana looks into the mailbox: no letter.")
            #expect(try await browser.text(focused) == "move-0")
            try await browser.press(.tab, .space, .space)
            #expect(
                try await browser.text(said) == "Ben looks for a note, finds none, and goes home.")
            #expect(try await browser.text(focused) == "move-1")
            try await browser.press(["a"])
            #expect(try await browser.text(said).hasSuffix("the letter is lost."))
            #expect(try await browser.text(focused) == "again")
            // The next Enter must not leave the screen.
            try await browser.press(.enter)
            #expect(
                try await browser.text(said) == "From the beginning. Choose who moves first.")
            #expect(try await browser.text(focused) == "move-0")
            try await browser.press(.right)
            for _ in 1...1000 where try await browser.text("page.view.number") != "1" {}
            #expect(try await browser.text(focused) == "H1")
            #expect(try await browser.text(said) == "")
        }
    }

    @Test func `the picture shows what Ana believes, and the source names the lines of each move`()
        async throws
    {
        try await page.open("#play/4") { browser, _ in
            let picture = "document.querySelector('.scene svg').getAttribute('aria-label')"
            try await browser.press(["a"])
            #expect(try await browser.text(picture).contains("Ana thinks: no letter"))
            try await browser.press(["b", "b", "a"])
            #expect(
                try await browser.text(picture)
                    == "Ana and Ben at a mailbox: a letter in the mailbox, a note on it, "
                    + "Ana thinks: Ben will bring it, Ben is home, Ana waits forever")
            let named = try await browser.texts(
                """
                [...document.querySelectorAll('.opening .fold[class*=text]')]
                  .map(node => `${node.textContent} ${node.nextSibling.querySelector("code").textContent.trim()}`)
                """)
            #expect(
                named == [
                    "Ben puts the letter in: result = .success(value)",
                    "Ben looks for a note: f_then?(value)",
                    "Ana looks into the mailbox: if state == .pending {",
                    "Ana leaves her note: f_error = reject",
                    "Ana takes the letter: } else if case .success(let value) = result {",
                ])
        }
    }

    @Test func `with two keys, the moves are those of the program`() async throws {
        try await page.open("#play/6") { browser, address in
            let told = "document.querySelector('.told').textContent"
            let picture = "document.querySelector('.scene svg').getAttribute('aria-label')"
            try await browser.press(["a"])
            let takesKey = "Ana takes key 1, puts the letter in, and keeps the key."
            #expect(try await browser.text(told) == takesKey)
            // To look into the other box, a key is taken, and given back.
            try await browser.press(["a"])
            #expect(
                try await browser.text(told)
                    == "Ana takes key 2, looks into box 2, and hangs the key back: the box is empty."
            )
            #expect(try await browser.text(picture).contains("key 2 hangs at its box"))
            try await browser.press(["a"])
            #expect(try await browser.text(told).contains("waits for key 1, but has it herself"))
            try await browser.open(address + "#play/7")
            try await browser.press(["a", "a", "b", "a"])
            #expect(
                try await browser.text(told)
                    == "Ana takes key 2, wants to put the copy in, finds a letter there by now, and "
                    + "hangs the key back.")
            try await browser.open(address + "#play/7")
            try await browser.press(["b", "a", "a", "a"])
            #expect(try await browser.text(told) == "Ana marks the note on box 1 as done.")
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

    @Test func `on a phone, the buttons and what they move are in sight together`() async throws {
        try await page.open("#play/1") { browser, address in
            try await browser.resize(width: 390, height: 844)
            for (number, parts) in [
                (2, [".scene", ".told", ".lanes", ".chart svg"]),
                (4, [".code", ".lit", ".told", ".lanes"]),
                (5, [".scene", ".told", ".lanes", ".chart svg"]),
            ] {
                try await browser.open(address + "#play/\(number)")
                try await browser.press(["a"])
                let outside = try await browser.texts(
                    """
                    arguments[0].filter(selector => {
                      const { top, bottom } = document.querySelector(`.opening ${selector}`).getBoundingClientRect();
                      return !(top >= 0 && bottom <= innerHeight);
                    })
                    """, [parts])
                #expect(outside == [], "screen \(number)")
                #expect(try await browser.text("scrollY") == "0", "screen \(number)")
                // A map may shrink, its text may not.
                let smallest = try await browser.text(
                    """
                    Math.min(99, ...[...document.querySelectorAll(".chart text")]
                      .map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))
                    """)
                #expect((Double(smallest) ?? 0) >= 12, "screen \(number)")
            }
        }
    }

    @Test func `every box that needs a key has a lock`() async throws {
        try await page.open("#play/6") { browser, address in
            for number in [5, 6, 7] {
                try await browser.open(address + "#play/\(number)")
                let counts = try await browser.texts(
                    """
                    [".mailbox", ".padlock"]
                      .map(selector => String(document.querySelectorAll(`.scene ${selector}`).length))
                    """)
                #expect(counts[0] == counts[1], "screen \(number)")
            }
        }
    }

    @Test func `each move is announced by one change, with the number of orders tried`()
        async throws
    {
        try await page.open("#play/2") { browser, _ in
            try await browser.run(
                """
                window.changes = [];
                new MutationObserver(records => changes.push(`${records.length} ${page.live.textContent}`))
                  .observe(page.live, { childList: true, characterData: true, subtree: true });
                """)
            try await browser.press(["a", "b", "b", "a"])
            let changes = try await browser.texts("changes")
            #expect(changes.count == 4 && changes.allSatisfy { $0.hasPrefix("1 ") }, "\(changes)")
            #expect(changes.last?.hasSuffix("the letter is lost. 1 of 6 orders tried.") == true)
            try await browser.click("#hint")
            let hint = try await browser.text("page.live.textContent")
            #expect(hint.hasPrefix("Ana, Ana, Ben, Ben: Ben looks for a note, finds one"))
            #expect(hint.hasSuffix("2 of 6 orders tried."))
        }
    }

    @Test func `the source keeps its place and the focus while one plays`() async throws {
        try await page.open("#play/4") { browser, _ in
            try await browser.resize(width: 390, height: 844)
            let code = "document.querySelector('.opening .code')"
            try await browser.run("\(code).focus(); \(code).scrollLeft = 40")
            let place = "\(code).scrollLeft + ' ' + document.activeElement.id"
            #expect(try await browser.text(place) == "40 code")
            try await browser.press(["a"])
            #expect(try await browser.text(place) == "40 code")
        }
    }

    @Test func `a race in the list has a title in plain words, which is its heading`() async throws
    {
        let titles = Catalogue.races.map(\.title)
        #expect(Set(titles).count == titles.count)
        try await page.open("#races") { browser, address in
            let links = try await browser.texts(
                "[...document.querySelectorAll('.lesson a')].map(link => link.hash + '|' + link.textContent)"
            )
            #expect(Set(links).count == links.count && links.count > 20)
            let unknown = links.filter { $0.contains("∥") || $0.contains("`") }
            #expect(unknown == [])
            for link in links.prefix(3) + links.suffix(1) {
                let parts = link.split(separator: "|").map(String.init)
                try await browser.open(address + parts[0])
                let heading = try await browser.text("document.querySelector('h1').firstChild.data")
                #expect(parts[1].hasPrefix(heading + " ") && heading.count > 20, "\(link)")
                let id = parts[0].dropFirst().prefix { $0 != "/" }
                let small = try await browser.text("document.querySelector('h1 small').textContent")
                #expect(parts[1].contains(" \(id) · ") && (id == "door" || small.hasPrefix(id)))
            }
        }
    }

    @Test func `the races of the opening say who Ana and Ben are`() async throws {
        try await page.open("#R01/stage1") { browser, address in
            for (link, cast) in [
                ("#R01/stage1", ["Ana is the subscriber", "Ben is the resolver"]),
                ("#R10/stepA", ["Ana is “first”", "Ben is “second”"]),
            ] {
                try await browser.open(address + link)
                let story = try await browser.text("document.querySelector('.story').textContent")
                for words in cast { #expect(story.contains(words)) }
                // They have the colors of their threads.
                let same = try await browser.text(
                    """
                    [...document.querySelectorAll(".cast strong")].every((name, i) => getComputedStyle(name).color
                      === getComputedStyle(document.querySelectorAll(".lane .who")[i]).color)
                    """)
                #expect(same == "true")
            }
            try await browser.open(address + "#R02/stage1")
            #expect(try await browser.text("document.querySelector('.cast')") == "null")
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

    @Test func `on the map each order has a line of its own, which ends in its own sign`()
        async throws
    {
        try await page.open("#play/3") { browser, _ in
            let ends = try #require(
                try await browser.run(
                    """
                    const signs = [...document.querySelectorAll(".chart .sign")].map(node => {
                      const { x, y, width, height } = node.getBBox();
                      return [node.classList.contains("fails"), x + width / 2, y + height / 2].join();
                    });
                    return [...document.querySelectorAll(".chart .kind")].map(node => {
                      const { x, y } = node.getPointAtLength(node.getTotalLength());
                      return String(signs.includes([node.classList.contains("fails"), x, y].join()));
                    });
                    """) as? [String])
            #expect(ends == Array(repeating: "true", count: 6))
            let lines = try await browser.texts(
                "[...document.querySelectorAll('.chart .kind')].map(node => node.getAttribute('d'))"
            )
            #expect(Set(lines).count == 6)
        }
    }

    @Test func `the source of a move is in sight, and only the last move is lit`() async throws {
        try await page.open("#play/4") { browser, _ in
            try await browser.resize(width: 1280, height: 720)
            let lit =
                "[...document.querySelectorAll('.opening .lit code')].map(node => node.textContent.trim())"
            try await browser.press(["a", "b"])
            #expect(
                try await browser.texts(lit) == ["result = .success(value)", "state = .fulfilled"])
            try await browser.press(["b"])
            #expect(try await browser.texts(lit) == ["f_then?(value)"])
            let isWhole =
                "(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight)(document.querySelector('.opening .code'))"
            #expect(try await browser.text(isWhole) == "true")
        }
    }
}
