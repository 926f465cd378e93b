import Foundation
import SharedSuite
import Testing

/// A race on the page, in a real browser: one screen, a presentation, a sheet of paper.
@Suite(.serialized, .sharesBrowser, .needsBrowser)
struct RacePageTests {
    private let page = BrowserTests()
    private let naive = BrowserTests.link("R01", .naive)
    private let stepA = BrowserTests.link("R10", Subject.all(.step)[0])

    /// The parts of a race that are not completely within the window.
    private static let outside = """
        return [".story", ".code", ".lanes", ".status", ".objects", ".map"].filter(selector => {
          const node = document.querySelector(selector);
          const { top, bottom, left, right, width } = node.getBoundingClientRect();
          return !(width > 0 && top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth);
        });
        """

    @Test(arguments: [(1280, 720), (1920, 1080)])
    func `a race fits on one screen`(width: Int, height: Int) async throws {
        try await page.open(naive) { browser, address in
            try await browser.resize(width: width, height: height)
            for link in [naive, stepA, BrowserTests.link("R05", .handlers)] {
                try await browser.open(address + link)
                try await browser.click("#predict-fails")
                try await browser.press(["s", "r", "f"])
                let outside = try await browser.run(Self.outside) as? [String]
                #expect(outside == [], "\(link)")
            }
        }
    }

    /// The races at whose end, after the answer, the text, the state or the buttons must be scrolled,
    /// or the source or the map is small.
    private static let crowded = """
        return (async () => {
          const found = [];
          const part = selector => document.querySelector(selector);
          for (const { id } of document.querySelectorAll('[id^="race:"]')) {
            page.showRace(id.slice(5), "");
            const { race } = page.view;
            page.reveal(race.id);
            page.view.load((race.counterexample || race.survivor).join(""));
            // The state is drawn when its width is known.
            await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            const isOver = [".lanes", ".status", ".objects"].some(name => part(name).getBoundingClientRect().bottom > innerHeight);
            const isScrolled = ["#hands", ".status"].some(name => part(name).scrollHeight > part(name).clientHeight + 1);
            const isSmall = [".code", ".map"].some(name => part(name).clientHeight < 200);
            if (!page.view.path.ending || isOver || isScrolled || isSmall) found.push(race.id);
          }
          return found;
        })();
        """

    @Test(arguments: [false, true])
    func `at the end of every race everything is in sight`(isPresented: Bool) async throws {
        try await page.open { browser, _ in
            try await browser.resize(width: 1280, height: 720)
            if isPresented { try await browser.run("page.present()") }
            #expect(try await browser.run(Self.crowded) as? [String] == [])
        }
    }

    @Test func `on a phone the parts of a race are below each other, and none is wider`()
        async throws
    {
        try await page.open(naive) { browser, _ in
            try await browser.resize(width: 390, height: 844)
            let tops = try await browser.run(
                """
                return [".story", "#predict", ".code", ".lanes", ".status", ".map", "#steps .scroll"]
                  .map(selector => document.querySelector(selector).getBoundingClientRect())
                  .map(({ top, width }) => width <= 390 ? top : -1);
                """)
            let places = try #require(tops as? [Double])
            #expect(places == places.sorted() && places[0] > 0, "\(places)")
            let code = try await browser.text("document.querySelector('.code').clientHeight")
            #expect((Double(code) ?? 999) < 844 * 0.45)
        }
    }

    @Test func `on a phone the buttons stay in sight beside the source and the map`() async throws {
        try await page.open(naive) { browser, address in
            try await browser.resize(width: 390, height: 844)
            for link in [naive, BrowserTests.link("R05", .handlers)] {
                try await browser.open(address + link)
                try await browser.click("#predict-fails")
                for part in [".code", ".status", ".map"] {
                    let places = try await browser.run(
                        """
                        document.querySelector(arguments[0]).scrollIntoView({ block: "center" });
                        const [part, lanes] = [arguments[0], ".lanes"].map(selector => document.querySelector(selector).getBoundingClientRect());
                        const covered = Math.max(0, Math.min(part.bottom, lanes.bottom) - Math.max(part.top, lanes.top));
                        return [lanes.top, innerHeight - lanes.bottom, part.height / 2 - covered];
                        """, [part])
                    let numbers = try #require(places as? [Double])
                    #expect(numbers.allSatisfy { $0 >= 0 }, "\(part) of \(link): \(numbers)")
                }
            }
        }
    }

    @Test func `the marks of waiting threads do not move their line`() async throws {
        try await page.open(stepA) { browser, _ in
            try await browser.resize(width: 1280, height: 720)
            try await browser.click("#predict-fails")
            let lefts =
                "[...document.querySelectorAll('.line code')].map(code => code.getBoundingClientRect().left).join()"
            let before = try await browser.text(lefts)
            try await browser.press(["f", "s"])
            let marks =
                "[...document.querySelectorAll('.mark')].map(mark => mark.textContent + mark.classList.contains('waits')).join()"
            #expect(try await browser.text(marks) == "Ftrue,Strue")
            #expect(try await browser.text(lefts) == before)
        }
    }

    @Test func `a presentation has large text, the story, and hides the verdict until a key`()
        async throws
    {
        try await page.open(naive) { browser, _ in
            try await browser.emulate("prefers-reduced-motion", "reduce")
            try await browser.resize(width: 1280, height: 720)
            // What the presenter has seen before is hidden again.
            try await browser.click("#predict-fails")
            try await browser.run("page.view.showMe()")
            try await browser.press(["."])
            let size = "parseFloat(getComputedStyle(document.querySelector('.line code')).fontSize)"
            func expectLargeText() async throws {
                #expect((Double(try await browser.text(size)) ?? 0) >= 22)
                let outside = try await browser.texts(
                    """
                    [".story", ".code", ".lanes", "#predict", ".map"].filter(selector => {
                      const { top, bottom, width } = document.querySelector(selector).getBoundingClientRect();
                      return !(width > 0 && top >= 0 && bottom <= innerHeight);
                    })
                    """)
                #expect(outside == [])
                let map = "document.querySelector('.map svg').getBoundingClientRect().height"
                #expect((Double(try await browser.text(map)) ?? 0) >= 140)
            }
            try await expectLargeText()
            try await browser.press(["s", "r", "r", "r", "s", "s"])
            let verdict = try await browser.text(BrowserTests.verdict)
            #expect(verdict == "This interleaving has ended. Did it end well?")
            let hidden = "!/of 3 kinds|never called/.test(document.body.innerText)"
            #expect(try await browser.text(hidden) == "true")
            try await browser.press(["?"])
            #expect(try await browser.text(hidden) == "false")
            try await expectLargeText()
            for _ in 1...6 { try await browser.press(.right) }
            try await expectLargeText()
            // The pattern of conflicts and the heads of arrows are drawn, although the objects are
            // hidden, which are drawn first.
            let areDrawn = """
                ["hatch", "head-ink"].every(id => document.getElementById(id).closest("svg").getClientRects().length > 0)
                """
            #expect(try await browser.text(areDrawn) == "true")
            let small = try await browser.texts(
                """
                [...document.querySelectorAll('.status p, .what, .story, #predict')]
                  .filter(node => parseFloat(getComputedStyle(node).fontSize) < 16).map(node => node.textContent)
                """)
            #expect(small == [])
        }
    }

    @Test func `the counterexample and the map are on one sheet of paper`() async throws {
        for link in [naive, stepA] {
            try await page.open(link) { browser, _ in
                try await browser.emulate("prefers-reduced-motion", "reduce")
                try await browser.click("#predict-fails")
                try await browser.run("page.view.showMe(); page.view.restart()")
                let pdf = try await browser.devTools("Page.printToPDF", ["paperWidth": 8.27])
                let data = ((pdf as? [String: Any])?["data"] as? String).flatMap {
                    Data(base64Encoded: $0)
                }
                let text = String(decoding: try #require(data), as: Unicode.ASCII.self)
                #expect(text.ranges(of: "/Type /Page\n").count == 1, "\(link)")
                // Afterwards the race is as it was.
                #expect(try await browser.text("page.view.path.length") == "0")
                try await browser.run("page.startPrinting()")
                #expect(try await browser.text("page.view.path.fails") == "true")
                try await browser.run("page.endPrinting()")
                #expect(try await browser.text("page.view.path.length") == "0")
            }
        }
    }

    // MARK: What a step did

    @Test func `each step says what it read, where it goes on, and who waits`() async throws {
        try await page.open(naive) { browser, address in
            try await browser.click("#predict-fails")
            let deed = "document.querySelector('.deed').textContent"
            try await browser.press(["s"])
            #expect(
                try await browser.text(deed)
                    == "subscriber reads state: it is pending, line 69, and goes on at line 72."
            )
            try await browser.press(["r", "r"])
            #expect(
                try await browser.text(deed).contains("state changes from pending to fulfilled"))
            try await browser.press(["r"])
            #expect(try await browser.text(deed).contains("reads f_then: it is nil"))
            try await browser.press(["s", "s"])
            let why = try await browser.text("document.querySelector('.why').textContent")
            #expect(
                why.hasPrefix(
                    "Step 4 decided it. resolver reads f_then: it is nil, and only then subscriber "
                        + "writes f_then of AWPromise"))
            #expect(why.hasSuffix("(line 73). From here on, every interleaving fails."))
            try await browser.open(address + stepA)
            try await browser.click("#predict-fails")
            try await browser.press(["f", "s"])
            #expect(
                try await browser.text(BrowserTests.verdict).contains(
                    "'first' waits at AWPromise.swift:36 for the lock that 'second' took"))
        }
    }

    @Test func `show me plays the story of the title: two threads that wait for each other`()
        async throws
    {
        try await page.open(stepA) { browser, _ in
            try await browser.emulate("prefers-reduced-motion", "reduce")
            try await browser.click("#predict-fails")
            try await browser.click("#show-me")
            for _ in 1...2 { try await browser.press(.right) }
            #expect(try await browser.text("isCircle(page.view.path.ending)") == "true")
        }
    }

    @Test func `after a failure the same moves lead to the version that survives`() async throws {
        try await page.open(naive) { browser, _ in
            try await browser.click("#predict-fails")
            try await browser.press(["s", "r", "r", "r", "s", "s"])
            let links = try await browser.texts(
                "[...document.querySelectorAll('.next a')].map(link => link.hash)")
            #expect(links.first == "#R01/stepA/~SRRRSS")
            #expect(links.count == 2)
            try await browser.run("document.querySelector('.next a').click()")
            for _ in 1...1000 where try await browser.text("page.view.race.id") != "R01/stepA" {}
            #expect(try await browser.text("page.view.undone.join('')") == "SRRR")
        }
    }

    // MARK: One thing in three places

    @Test func `a step lights up in the map, the table and the source together`() async throws {
        try await page.open(naive) { browser, _ in
            try await browser.click("#predict-fails")
            try await browser.press(["s", "r", "r", "r", "s", "s"])
            let lit = """
                [[...document.querySelectorAll('tr.linked')].map(row => row.dataset.step),
                 [...document.querySelectorAll('.line.linked')].map(line => line.dataset.line),
                 [...document.querySelectorAll('.link-ring')].length].join(' ')
                """
            try await browser.point(at: "document.querySelector('[data-step=\"3\"]')")
            #expect(try await browser.text(lit) == "3 41 1")
            try await browser.point(at: "document.querySelector('[data-line=\"69\"] .number')")
            #expect(try await browser.text(lit) == "0 69 1")
            try await browser.point(
                at: "[...document.querySelectorAll('#map .point')].find(point => "
                    + "point.dataset.length === '1,2')")
            #expect(try await browser.text(lit) == "2 40 1")
            try await browser.point(at: "document.querySelector('h1')")
            #expect(try await browser.text(lit) == "  0")
        }
    }

    @Test func `the scrubber, the table and the arrow keys in the map lead to a step`() async throws
    {
        try await page.open(naive) { browser, _ in
            try await browser.click("#predict-fails")
            try await browser.press(["s", "r", "r", "r", "s", "s"])
            let schedule = "page.view.path.schedule"
            try await browser.run(
                """
                const scrubber = document.getElementById("scrubber");
                scrubber.value = 2;
                scrubber.dispatchEvent(new Event("input"));
                """)
            #expect(try await browser.text(schedule) == "SR")
            try await browser.run("document.querySelector('[data-step=\"0\"] button').click()")
            #expect(try await browser.text(schedule) == "S")
            try await browser.run("document.querySelector('.map').focus()")
            let place = "document.querySelector('.map svg').getAttribute('aria-label')"
            try await browser.press(.down, .down, .right)
            #expect(try await browser.text(schedule) == "SRRS")
            // The place has a name, which is announced with the step.
            let words = "After 2 steps of subscriber and 2 steps of resolver"
            #expect(try await browser.text(place).hasSuffix(words))
            let said = try await browser.text("page.live.textContent")
            #expect(said.hasPrefix("\(words). Step 4: subscriber "))
            let named = try await browser.texts(
                "[...document.querySelectorAll('.map .point')].map(point => point.querySelector('title').textContent)"
            )
            #expect(Set(named).count == named.count && named.contains { $0.hasPrefix(words) })
            try await browser.press(.left)
            #expect(try await browser.text(schedule) == "SRR")
            #expect(
                try await browser.text("document.activeElement.classList.contains('map')") == "true"
            )
        }
    }

    @Test func `the focus stays where one works`() async throws {
        try await page.open(naive) { browser, _ in
            let focused = "document.activeElement.id || document.activeElement.dataset.key || ''"
            try await browser.run("document.getElementById('predict-fails').focus()")
            try await browser.press(.enter)
            #expect(try await browser.text(focused) == "show-me")
            try await browser.run("document.querySelector('.go[data-key=R]').focus()")
            for _ in 1...3 { try await browser.press(.enter) }
            #expect(try await browser.text("page.view.path.schedule") == "RRR")
            #expect(try await browser.text(focused) == "R")
            try await browser.run("document.getElementById('back').focus()")
            for _ in 1...4 { try await browser.press(.enter) }
            #expect(try await browser.text("page.view.path.schedule") == "")
            #expect(try await browser.text(focused) == "back")
            // With the shift key a letter takes the same step, unless there is another one.
            try await browser.press(["S"])
            #expect(try await browser.text("page.view.path.schedule") == "S")
            // The table is made anew by each step.
            try await browser.press(["r", "s"])
            try await browser.run("document.querySelector('[data-step=\"1\"] button').focus()")
            try await browser.press(.enter)
            #expect(try await browser.text("page.view.path.schedule") == "SR")
            let row = "document.activeElement.closest('[data-step]')?.dataset.step"
            #expect(try await browser.text(row) == "1")
        }
    }

    @Test func `a step that ends the other way leaves the focus with its thread`() async throws {
        try await page.open(BrowserTests.link("R14", .threadSafe)) { browser, _ in
            try await browser.click("#predict-not")
            // Takes steps until there is such a step.
            try await browser.run(
                """
                const { view } = page;
                while (!document.querySelector(".early") && !view.path.ending) view.step(view.race.nodes[view.path.node].edges[0].key);
                document.querySelector(".early").focus();
                """)
            let key = try await browser.text("document.activeElement.dataset.key")
            try await browser.press(.enter)
            #expect(try await browser.text("page.view.path.keys.at(-1)") == key)
            #expect(
                try await browser.text("document.activeElement.dataset.key")
                    == String(key.prefix(1)))
        }
    }

    @Test func `a prediction, a verdict and the step that decided are announced`() async throws {
        try await page.open(naive) { browser, _ in
            let said = "document.getElementById('live').textContent"
            try await browser.click("#predict-fails")
            #expect(try await browser.text(said).hasPrefix("Then look for an order"))
            try await browser.emulate("prefers-reduced-motion", "reduce")
            try await browser.click("#show-me")
            #expect(try await browser.text(said).contains("This interleaving fails."))
            try await browser.run("page.view.load('SRRR')")
            try await browser.press(.left, .right)
            let decisive = try await browser.text(said)
            #expect(
                decisive.contains(
                    "This step decided it. resolver reads f_then: it is nil, and only then"))
            #expect(decisive.hasSuffix("every interleaving fails: a handler is never called."))
        }
    }

    @Test func `the names of all versions are in sight`() async throws {
        try await page.open { browser, address in
            for (width, height) in [(390, 844), (1280, 720), (1920, 1080)] {
                try await browser.resize(width: width, height: height)
                for link in [naive, BrowserTests.link("R14", .threadSafe)] {
                    try await browser.open(address + link)
                    let hidden = try await browser.texts(
                        """
                        [...document.querySelectorAll('.bar a')].filter(link => {
                          const { left, right, bottom, width } = link.getBoundingClientRect();
                          const found = document.elementFromPoint(left + width / 2, bottom - 4);
                          return right > innerWidth || !link.contains(found);
                        }).map(link => link.textContent)
                        """)
                    #expect(hidden == [], "\(link) at \(width)")
                    let names = try await browser.texts(
                        "[...document.querySelectorAll('.bar .versions a')].map(link => link.getAttribute('aria-label') || link.textContent)"
                    )
                    #expect(names.contains("Stage 3"))
                }
            }
        }
    }

    @Test func `the current place of a map that scrolls is in sight`() async throws {
        try await page.open(BrowserTests.link("R14", .threadSafe)) { browser, _ in
            try await browser.resize(width: 1280, height: 720)
            try await browser.click("#predict-fails")
            let distances = try await browser.run(
                """
                const { view } = page;
                view.showMe();
                while (view.undone.length > 0) view.forward();
                const map = document.querySelector(".map");
                const [box, here] = [map, map.querySelector(".here")].map(node => node.getBoundingClientRect());
                return [map.scrollHeight - map.clientHeight, here.top - box.top, box.bottom - here.bottom,
                  here.left - box.left, box.right - here.right];
                """)
            let numbers = try #require(distances as? [Double])
            #expect(numbers[0] > 0 && numbers.allSatisfy { $0 >= 0 }, "\(numbers)")
        }
    }

    @Test func `what is focused in the matrix is not below its heads`() async throws {
        try await page.open("#matrix") { browser, _ in
            for (width, height) in [(390, 844), (1280, 720)] {
                try await browser.resize(width: width, height: height)
                try await browser.run("document.querySelectorAll('.matrix td a')[30].focus()")
                for _ in 1...30 {
                    try await browser.press(.tab)
                    let covered = try await browser.text(
                        """
                        (link => {
                          const { left, top, width, height } = link.getBoundingClientRect();
                          const found = document.elementFromPoint(left + width / 2, top + height / 2);
                          return found && found.closest("th") ? link.getAttribute("aria-label") : "";
                        })(document.activeElement)
                        """)
                    #expect(covered == "")
                }
            }
        }
    }

    @Test func `the heads of the matrix stay in sight`() async throws {
        try await page.open("#matrix") { browser, _ in
            try await browser.resize(width: 1280, height: 720)
            let places = try await browser.run(
                """
                const scroll = document.querySelector(".whole");
                scroll.scrollIntoView();
                scroll.scrollTop = 900;
                scroll.scrollLeft = 300;
                const box = scroll.getBoundingClientRect();
                const column = document.querySelectorAll("thead th")[5].getBoundingClientRect();
                const row = document.querySelectorAll("tbody th[scope=row]")[30].getBoundingClientRect();
                return [column.top - box.top, row.left - box.left].map(Math.round);
                """)
            #expect(places as? [Int] == [0, 0])
        }
    }

    @Test func `after restart nothing of the run before stays`() async throws {
        try await page.open(naive) { browser, _ in
            try await browser.click("#predict-fails")
            try await browser.press(["s", "r", "r", "r", "s", "s"])
            try await browser.press(.home)
            let left = """
                document.querySelectorAll('.line.done, .linked, tr.fatal, .link-ring').length
                """
            #expect(try await browser.text(left) == "0")
            #expect(
                try await browser.text("document.querySelector('.walked').getAttribute('d')") == "")
        }
    }

    // MARK: Trouble

    @Test func `damaged data and missing scripts lead to a sentence`() async throws {
        let whole = try String(
            contentsOf: #require(URL(string: BrowserTests.page)), encoding: .utf8)
        let file = FileManager.default.temporaryDirectory
            .appending(path: "damaged-\(ProcessInfo.processInfo.processIdentifier).html")
        defer { try? FileManager.default.removeItem(at: file) }
        let race = whole.replacing(#"id="race:R01/stage1">{"#, with: #"id="race:R01/stage1">["#)
        let frame = whole.replacing(#"id="frame">{"#, with: #"id="frame">["#)
        for (html, link, words) in [
            (race, "#R01/stage1", "its data is damaged"), (frame, "", "its data is damaged"),
            (whole.replacing("class LabPage", with: "class ?LabPage"), "", "needs JavaScript"),
        ] {
            #expect(html != whole)
            try html.write(to: file, atomically: true, encoding: .utf8)
            try await Browser.run { browser in
                try await browser.open(file.absoluteString + link)
                let text = try await browser.text("document.getElementById('main').textContent")
                #expect(text.contains(words), "\(text.prefix(200))")
            }
        }
    }
}
