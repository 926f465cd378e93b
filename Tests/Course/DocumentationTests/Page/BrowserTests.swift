import Foundation
import RaceLab
import SharedSuite
import Testing

@testable import LabPage

/// The page in a real browser.
@Suite(.serialized, .sharesBrowser, .needsBrowser)
struct BrowserTests {
    /// The published page. ``PublishedPageTests`` compares it with what the command writes.
    static let page = Commands.package.appending(path: "docs/index.html").absoluteString

    /// Opens the page in a browser, and afterwards checks that it has logged and fetched nothing.
    func open(
        _ link: String = "", arguments: [String] = [], page: String? = nil,
        _ use: (Browser, String) async throws -> Void
    ) async throws {
        let address = page ?? Self.page
        try await Browser.run(arguments: arguments) { browser in
            // Files share what a browser remembers.
            try await browser.open(address)
            try await browser.run("localStorage.clear()")
            try await browser.open(address + link)
            try await use(browser, address)
            #expect(try await browser.log("browser") == [])
            let requests = try await browser.log("performance").compactMap(Self.request)
            let foreign = requests.filter { !$0.hasPrefix(address) && $0 != "about:blank" }
            #expect(!requests.isEmpty)
            #expect(foreign == [])
        }
    }

    /// The address of the request in an entry of the performance log.
    private static func request(_ entry: String) -> String? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(entry.utf8)),
            let message = (object as? [String: Any])?["message"] as? [String: Any],
            message["method"] as? String == "Network.requestWillBeSent",
            let parameters = message["params"] as? [String: Any],
            let request = parameters["request"] as? [String: Any]
        else { return nil }
        return request["url"] as? String
    }

    static func link(_ id: String, _ subject: Subject, _ schedule: String = "") -> String {
        "#\(id)/\(subject.kind)\(subject.word)" + (schedule.isEmpty ? "" : "/\(schedule)")
    }

    static func subjects(for race: any Race) -> [Subject] {
        Subject.all.filter { subject in
            if case .cannotExpress = race.expectation(on: subject) { false } else { true }
        }
    }

    // MARK: The whole page

    @Test func `the page and the lab agree on which races fail`() async throws {
        try await open { browser, _ in
            // R18 judges the explorations of R01 to R05, and the page shows the first of them.
            for race in Catalogue.races where race.id != "R18" {
                for subject in Self.subjects(for: race) {
                    let data = "JSON.parse(document.getElementById(arguments[0]).textContent)"
                    let id = "race:" + Self.link(race.id, subject).dropFirst()
                    let failing = try await browser.run("return \(data).failing > 0", [id]) as? Bool
                    let expected = race.expectation(on: subject) != .survives
                    #expect(failing == expected, "\(race.id) on \(subject)")
                }
            }
        }
    }

    @Test func `the page with all races is small, and has every order of their steps`()
        async throws
    {
        try await open { browser, _ in
            let sizes = try #require(
                try await browser.run(
                    """
                    return Object.fromEntries([...document.querySelectorAll('[id^="race:"]')]
                      .map(data => ["#" + data.id.slice(5), data.textContent.length]));
                    """) as? [String: Int])
            let measured = GraphTests.largest.map { Self.link($0.0, $0.1) }
            let most = sizes.filter { !measured.contains($0.key) }.values.max() ?? 0
            for link in measured { #expect(try #require(sizes[link]) >= most, "\(link)") }
            // The page counts the kinds by itself. Of some kinds, the lab runs more than one
            // interleaving where the order of releases decides, which is known only after a run.
            let faults = try await browser.run(
                """
                return [...document.querySelectorAll('[id^="race:"]')].flatMap(node => {
                  const race = page.raceOf(node.id.slice(5));
                  const { explored, failing, coverage } = race.data;
                  const kinds = race.kinds();
                  const isPlain = /(stage[12]|step.)$/.test(node.id);
                  const isWhole = kinds.every(kind => kind.path.ending && race.walk(kind.schedule).problem === null)
                    && new Set(kinds.map(kind => kind.path.kind)).size === kinds.length
                    && race.kindCount === kinds.length
                    && (isPlain ? kinds.length === explored : kinds.length <= explored)
                    && (isPlain ? kinds.filter(kind => kind.fails).length === failing : kinds.some(kind => kind.fails) === failing > 0)
                    && coverage === "all";
                  return isWhole ? [] : [`${node.id} ${coverage} ${kinds.length} of ${explored}`];
                });
                """)
            #expect(faults as? [String] == [])
        }
    }

    @Test func `the page, the matrix and the terminal give one number`() async throws {
        let shown = try Commands.promiseLab(["show", "R01", "--stage", "1"]).output
        #expect(shown.contains("1 of 3 interleavings fail"))
        try await open(Self.link("R01", .naive)) { browser, address in
            try await browser.click("#predict-fails")
            try await browser.run("page.view.showMe()")
            let answer = "document.getElementById('predict').textContent"
            #expect(try await browser.text(answer).contains("1 of 3 kinds of interleavings fails."))
            try await browser.open(address + "#matrix")
            let cell = "document.querySelector('td a[href=\"#R01/stage1\"]').textContent"
            #expect(try await browser.text(cell).hasPrefix("✗ 1/3"))
        }
    }

    @Test func `a row of several scenarios links to each, and their numbers add up`() async throws {
        try await open(Self.link("R14", .threadSafe)) { browser, address in
            let scenarios = "document.querySelectorAll('a[aria-label^=scenario]')"
            let links = try await browser.texts("[...\(scenarios)].map(link => link.href)")
            #expect(links.count > 1)
            var all = 0
            for link in links {
                try await browser.open(link)
                try await browser.run(Self.reveal)
                let answer = try await browser.text("document.querySelector('#predict').innerText")
                let number = try #require(answer.firstMatch(of: #/([0-9,]+) (kind|inter)/#))
                all += try #require(Int(number.output.1.filter { $0 != "," }))
            }
            try await browser.open(address + "#matrix")
            try await browser.run(Self.reveal)
            let cell = "document.querySelector('td a[href^=\"#R14/stage3\"]').textContent"
            #expect(try await browser.text(cell).contains("/\(all)"))
        }
    }

    // MARK: What steps are called

    /// For each step in the table, the name of the instance that it accesses.
    static let names = """
        return [...document.querySelectorAll(".trace tr:has(td.number)")]
          .map(row => row.querySelector(".owner")?.textContent.trim() ?? "");
        """

    @Test(arguments: ["R12", "R10"])
    func `the table of the page names the same instances as the command`(id: String) async throws {
        let shown = try Commands.promiseLab(["show", id, "--stage", "2"]).output
        let lines = shown.components(separatedBy: "\n")
        let schedules = lines.compactMap { $0.firstMatch(of: #/--schedule (\S+)/#)?.output.1 }
        let schedule = try #require(schedules.first)
        let rows = lines.filter { $0.contains(#/^ *[0-9]+  /#) }
        let expected = rows.map { row in
            row.firstMatch(of: #/ ([A-Z]) :[0-9]+ /#).map { String($0.output.1) } ?? ""
        }
        #expect(Set(expected).count >= 2)
        try await open(Self.link(id, .handlers, String(schedule))) { browser, _ in
            try await browser.run(Self.reveal)
            #expect(try await browser.run(Self.names) as? [String] == expected)
            let legend = try await browser.text("document.querySelector('.owners').textContent")
            #expect(lines.contains(legend), "\(legend)")
        }
    }

    @Test func `the page has words for every kind of step`() async throws {
        let kinds = Exploration.Trace.Step.Kind.allCases.map(\.rawValue)
        try await open { browser, _ in
            let unknown = try await browser.run(
                "return arguments[0].filter(kind => !verbs[kind])", [kinds])
            #expect(unknown as? [String] == [])
        }
    }

    @Test func `a table says which task a step resumes`() async throws {
        try await open(Self.link("R20", .threadSafe, "WWWWR9WWWWW")) { browser, _ in
            try await browser.run(Self.reveal)
            let table = try await browser.text("document.querySelector('.trace').textContent")
            #expect(table.contains("resumes 'waiter'"))
            #expect(table.contains("(ends)"))
        }
    }

    @Test func `of very many threads each has its own next step`() async throws {
        let exploration = try RecordedExploration("many threads") { scenario in
            // In a chain, so that there are few orders.
            let turns = (0...20).map { _ in DispatchSemaphore(value: 0) }
            turns[0].signal()
            for thread in 1...20 {
                scenario.thread("\(thread)") {
                    turns[thread - 1].wait()
                    turns[thread].signal()
                }
            }
        }
        let file = FileManager.default.temporaryDirectory
            .appending(path: "threads-\(ProcessInfo.processInfo.processIdentifier).html")
        defer { try? FileManager.default.removeItem(at: file) }
        try exploration.html.write(to: file, atomically: true, encoding: .utf8)
        try await open(page: file.absoluteString) { browser, _ in
            let wrong = try await browser.text(
                """
                page.view.race.nodes.flatMap((_, node) => page.view.race.threads.map((_, thread) => {
                  const label = page.view.race.next(node, thread);
                  return label && label.thread !== thread;
                })).filter(Boolean).length
                """)
            #expect(wrong == "0")
        }
    }

    // MARK: By hand

    static let verdict = "document.querySelector('.verdict-now').textContent"
    static let isOver = "document.getElementById('forward').getAttribute('aria-disabled')"

    /// Waits for the address, which follows the steps with a delay if they come fast.
    private func expect(_ browser: Browser, _ address: String) async throws {
        for _ in 1...1000 {
            if try await browser.address() == address { return }
        }
        Issue.record("the address is not \(address) but \(try await browser.address())")
    }

    @Test func `a shared link leads to its step, and back and forward lead away and again there`()
        async throws
    {
        let shared = Self.link("R01", .naive, "SRRRSS")
        try await open(shared) { browser, address in
            // Before a prediction, the steps are only ready to be taken.
            #expect(try await browser.text("page.view.path.length") == "0")
            try await browser.click("#predict-fails")
            #expect(try await browser.text(Self.verdict) == "✗ a handler is never called")
            for _ in 1...3 { try await browser.click("#back") }
            try await expect(browser, address + Self.link("R01", .naive, "SRR"))
            for _ in 1...3 { try await browser.click("#forward") }
            try await expect(browser, address + shared)
            #expect(try await browser.text(Self.verdict) == "✗ a handler is never called")
            #expect(try await browser.text(Self.isOver) == "true")
            let command = try await browser.text("document.querySelector('.schedule').textContent")
            #expect(command.contains("promise-lab replay R01 --stage 1 --schedule SRRRSS"))
            try await browser.click("#restart")
            try await expect(browser, address + Self.link("R01", .naive))
        }
    }

    @Test func `a schedule that does not fit is shown as far as it fits, and the page says why`()
        async throws
    {
        try await open(Self.link("R01", .naive, "SRRRRR")) { browser, _ in
            // An alert is announced by itself.
            #expect(try await browser.text("page.live.textContent") == "")
            try await browser.click("#predict-not")
            #expect(try await browser.text("page.view.path.schedule") == "SRRR")
            let problem = try await browser.text("document.querySelector('.problem').textContent")
            #expect(problem.contains("step 5 does not fit"))
            let unknown = Self.link("R01", .naive, "SQ")
            try await browser.run("location.hash = arguments[0]", [unknown])
            let words = "no thread has the letter “Q”"
            // The page notices the change some time later.
            var other = ""
            for _ in 1...1000 where !other.contains(words) {
                other = try await browser.text("document.querySelector('.problem').textContent")
            }
            #expect(other.contains(words))
        }
    }

    @Test func `a link to nothing leads to the matrix, which says so`() async throws {
        let problem = "document.querySelector('.problem')?.textContent ?? ''"
        try await open("#R99/stage1/SR") { browser, address in
            #expect(try await browser.text(problem).contains("nothing at “R99/stage1/SR”"))
            try await browser.open(address + "#R01/%E0%A4%A")
            #expect(try await browser.text(problem).contains("nothing at “R01/%E0%A4%A”"))
            try await browser.open(address + "#matrix")
            #expect(try await browser.text(problem) == "")
            #expect(try await browser.text("document.querySelectorAll('table').length") == "1")
        }
    }

    @Test func `the link that skips the head of the page leaves the race as it is`() async throws {
        let link = Self.link("R01", .naive, "SRR")
        try await open(link) { browser, address in
            try await browser.click("#predict-not")
            try await browser.run("document.activeElement.blur(); scrollTo(0, 0)")
            try await browser.run("document.querySelector('.skip').focus()")
            try await browser.press(.enter)
            #expect(try await browser.text("document.activeElement.id") == "main")
            #expect(try await browser.text("page.view.path.schedule") == "SRR")
            try await expect(browser, address + link)
        }
    }

    @Test func `the keyboard alone is enough`() async throws {
        try await open("#matrix") { browser, _ in
            // From the matrix to the first race, to the prediction, and to the failure.
            let focused = """
                (document.activeElement.matches('a, button')
                  ? document.activeElement.textContent + ' ' + document.activeElement.id : '')
                """
            func tab(to wanted: String) async throws {
                for _ in 1...400 {
                    try await browser.press(.tab)
                    let text = try await browser.text(focused)
                    if text.contains(wanted) { return }
                }
                Issue.record("no tab stop contains \(wanted)")
            }
            try await tab(to: "try it")
            try await browser.press(.enter)
            try await tab(to: "predict-fails")
            let outline = try await browser.text(
                "getComputedStyle(document.activeElement).outlineStyle")
            #expect(outline == "solid")
            try await browser.press(.enter)
            try await browser.press(["s", "r", "r", "r", "s", "s"])
            #expect(try await browser.text(Self.verdict) == "✗ a handler is never called")
            let said = try await browser.text("document.getElementById('live').textContent")
            #expect(said.contains("Step 6: subscriber writes f_then"))
            #expect(said.contains("f_then changes from nil to set"))
            #expect(said.contains("✗ a handler is never called"))
            try await browser.press(.left, .left, .left)
            #expect(try await browser.text("page.view.path.schedule") == "SRR")
            try await browser.press(.right)
            #expect(try await browser.text("page.view.path.schedule") == "SRRR")
            try await browser.press(.home)
            #expect(try await browser.text("page.view.path.schedule") == "")
            try await browser.press(["."])
            #expect(
                try await browser.text("document.documentElement.classList.contains('present')")
                    == "true")
        }
    }

    @Test func `the prediction cannot be skipped by accident`() async throws {
        try await open(Self.link("R01", .naive, "SRRRSS")) { browser, address in
            let isHidden = """
                !page.view.isRevealed && document.querySelector('.map').classList.contains('veiled')
                && document.getElementById('show-me') === null
                && !/[0-9] of [0-9]|[Ff]rom here|never called|✗|✓/.test(document.body.innerText)
                """
            #expect(try await browser.text(isHidden) == "true")
            try await browser.press(.home)
            let keys = "abcdefghijklmnopqrstuvwxyz0123456789? ".map(String.init)
            try await browser.press(keys)
            try await browser.press(["s", "r", "r", "r", "s", "s"])
            try await browser.press(.enter, .left, .right, .home, .enter)
            #expect(try await browser.text(isHidden) == "true")
            // The matrix does not reveal it either.
            let cell = "document.querySelector('td a[href=\"#R01/stage1\"]').textContent"
            try await browser.open(address + "#matrix")
            #expect(try await browser.text(cell) == "▷ try it")
            try await browser.open(address + Self.link("R01", .naive))
            try await browser.click("#predict-survives")
            #expect(try await browser.text("page.view.isRevealed") == "false")
            try await browser.emulate("prefers-reduced-motion", "reduce")
            try await browser.click("#show-me")
            let answer = "document.getElementById('predict').textContent"
            let words = "Your prediction was wrong. 1 of 3 kinds of interleavings fails."
            #expect(try await browser.text(answer).contains(words))
            // Both survive a reload.
            try await browser.open(address + Self.link("R01", .naive))
            #expect(try await browser.text(answer).contains(words))
        }
    }

    @Test func `with reduced motion nothing plays by itself`() async throws {
        try await open(Self.link("R01", .naive)) { browser, _ in
            try await browser.emulate("prefers-reduced-motion", "reduce")
            try await browser.click("#predict-fails")
            try await browser.click("#show-me")
            #expect(try await browser.text("page.view.timer") == "null")
            try await browser.emulate("prefers-reduced-motion", "no-preference")
            try await browser.click("#show-me")
            #expect(try await browser.text("page.view.timer !== null") == "true")
        }
    }

    /// Takes steps of the simplest interleaving, and counts the work of each: accesses to states of
    /// the exploration, created elements, attributes set, and layouts that the page forces by
    /// reading a position or a size.
    private static let measureSteps = """
        const { view } = page;
        page.revealed.add(view.race.id);
        view.update();
        const keys = (view.race.counterexample || view.race.survivor).slice(0, 12);
        const observer = new MutationObserver(() => {});
        observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
        let work;
        const note = () => {
          const records = observer.takeRecords();
          for (const record of records) {
            if (record.type === "attributes") work.attributes += 1;
            for (const node of record.addedNodes) work.elements += 1 + (node.querySelectorAll ? node.querySelectorAll("*").length : 0);
          }
          return records.length > 0;
        };
        const read = () => { if (note()) work.layouts += 1; };
        for (const [type, names] of [[Element, ["clientWidth", "clientHeight", "scrollWidth", "scrollHeight", "scrollLeft", "scrollTop"]],
          [HTMLElement, ["offsetTop", "offsetLeft", "offsetWidth", "offsetHeight"]]]) {
          for (const name of names) {
            const known = Object.getOwnPropertyDescriptor(type.prototype, name);
            Object.defineProperty(type.prototype, name, { ...known, get() { read(); return known.get.call(this); } });
          }
        }
        for (const name of ["getBoundingClientRect", "getClientRects"]) {
          const known = Element.prototype[name];
          Element.prototype[name] = function () { read(); return known.call(this); };
        }
        view.race.nodes = new Proxy(view.race.nodes, { get(nodes, index) { work.states += 1; return nodes[index]; } });
        return keys.map(key => {
          work = { states: 0, elements: 0, attributes: 0, layouts: 0 };
          observer.takeRecords();
          view.step(key);
          note();
          return Object.values(work);
        });
        """

    @Test func `a step does little, however large the exploration`() async throws {
        try await open { browser, address in
            for (id, subject) in [("R01", .naive), ("R14", .threadSafe)] + GraphTests.largest {
                let link = Self.link(id, subject)
                try await browser.open(address + link)
                let steps = try #require(try await browser.run(Self.measureSteps) as? [[Int]])
                #expect(!steps.isEmpty)
                let most = (0..<4).map { kind in steps.map { $0[kind] }.max() ?? 0 }
                let usual = (0..<4).map { kind in steps.map { $0[kind] }.sorted()[steps.count / 2] }
                #expect(most[0] < 10_000, "\(link): states looked at in each step: \(steps)")
                // A map has thousands of elements; a step must not draw it again.
                #expect(usual[1] < 1_000 && most[1] < 3_000, "\(link): elements: \(steps)")
                #expect(usual[2] < 100 && most[2] < 1_000, "\(link): attributes: \(steps)")
                #expect(most[3] <= 1, "\(link): times that the page is laid out: \(steps)")
            }
        }
    }

    @Test func `from the map a click leads to a state`() async throws {
        try await open(Self.link("R01", .naive)) { browser, _ in
            try await browser.emulate("prefers-reduced-motion", "reduce")
            try await browser.click("#predict-fails")
            try await browser.click("#show-me")
            try await browser.run(
                """
                const points = [...document.querySelectorAll('#map .point')];
                points.find(point => point.dataset.length === '1,2')
                  .dispatchEvent(new MouseEvent('click', { bubbles: true }));
                """)
            #expect(try await browser.text("page.view.path.counts().join()") == "1,2")
        }
    }

    @Test func `between all interleavings and one of each kind the map changes`() async throws {
        try await open(Self.link("R01", .naive)) { browser, _ in
            try await browser.run(Self.reveal)
            let drawn = """
                [document.querySelectorAll('#map .kind').length,
                 document.querySelectorAll('#map .point').length].join(' ')
                """
            let all = try await browser.text(drawn)
            #expect(all.hasPrefix("0 "))
            try await browser.click("input[value=kinds]")
            let kinds = try await browser.text(drawn)
            #expect(kinds.hasPrefix("3 ") && kinds.dropFirst(2) != all.dropFirst(2))
            try await browser.click("input[value=all]")
            #expect(try await browser.text(drawn) == all)
        }
    }

    @Test func `pointing at a path of the map shows its end, and at a state whether some fail`()
        async throws
    {
        try await open(Self.link("R01", .naive)) { browser, _ in
            try await browser.run(Self.reveal)
            let caption = "document.querySelector('.caption').textContent"
            try await browser.point(
                at: "[...document.querySelectorAll('#map .point')].find(point => "
                    + "point.dataset.length === '1,2')")
            #expect(
                try await browser.text(caption).contains("some interleavings through here fail"))
            try await browser.click("input[value=kinds]")
            for kind in ["fails", "survives"] {
                try await browser.point(at: "document.querySelector('#map .kind.\(kind)')")
                let end = kind == "fails" ? "✗ a handler is never called" : "✓ every check holds"
                #expect(try await browser.text(caption).hasSuffix(end))
            }
            try await browser.point(at: "document.querySelector('h1')")
            #expect(try await browser.text(caption) == "")
        }
    }

    // MARK: Accessibility

    @Test(arguments: views)
    func `on paper nothing is cut off, and nothing is there to be pressed`(view: String)
        async throws
    {
        try await open { browser, address in
            // A4 paper without its margins.
            try await browser.resize(width: 718, height: 1_000)
            try await browser.open(address + view)
            try await browser.run(
                Self.reveal + "page.startPrinting();"
                    + "for (const _ of [1, 2]) document.getElementById('theme').click();")
            try await browser.print(true)
            // Colors change during transitions.
            try await browser.run(
                "document.getAnimations().forEach(animation => animation.finish())")
            let cut = try await browser.texts(
                """
                [...document.querySelectorAll('main *')].filter(node => {
                  const { right, width, height } = node.getBoundingClientRect();
                  const style = getComputedStyle(node);
                  const isCut = style.overflow !== "visible" && !node.closest("svg")
                    && (node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1);
                  return width > 0 && height > 0 && (right > innerWidth + 1 || isCut);
                }).map(node => `${node.tagName} ${node.className} ${node.textContent.slice(0, 30)}`)
                """)
            #expect(cut == [], "\(view)")
            let pressed = try await browser.texts(
                """
                [...document.querySelectorAll('button, input, .keys, .bar')]
                  .filter(node => node.getClientRects().length > 0 && !node.matches('.lane button, .number button'))
                  .map(node => node.textContent)
                """)
            #expect(pressed == [], "\(view)")
            let faint = try await browser.run(Self.faint) as? [String]
            #expect(faint == [], "\(view): ink as on a dark screen")
        }
    }

    static let views = [
        "#matrix", "#races", "#play/2", "#R01/stage1/SRRR", "#R05/stage1", "#R10/stepA",
    ]

    /// Reveals everything that is hidden.
    static let reveal = """
        if (page.view && page.view.race) {
          page.revealed.add(page.view.race.id);
          page.view.predict(null);
          page.view.details.open = true;
          page.view.kindList.open = true;
        } else if (location.hash === "#matrix") {
          page.front.showsAll = true;
          showMatrix(page, page.front);
        }

        """

    @Test(arguments: [320, 375, 768, 1280, 2560])
    func `nothing is cut off, however narrow or wide`(width: Int) async throws {
        try await open { browser, address in
            try await browser.resize(width: width, height: 900)
            for view in Self.views {
                try await browser.open(address + view)
                try await browser.run(Self.reveal)
                let overflow = try await browser.text(
                    "document.documentElement.scrollWidth - document.documentElement.clientWidth")
                #expect(overflow == "0", "\(view) at \(width)")
                let small = try await browser.texts(
                    """
                    [...document.querySelectorAll('button, a')].filter(node => {
                      const { width, height } = node.getBoundingClientRect();
                      return !node.matches('.skip, p a') && width > 0 && (width < 24 || height < 20);
                    }).map(node => node.textContent)
                    """)
                #expect(small == [], "\(view) at \(width)")
            }
        }
    }

    /// Texts whose contrast is too low, with the contrast computed from the displayed colors.
    private static let faint = """
        const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
        const luminance = color => {
          const [r, g, b] = color.slice(0, 3).map(value => {
            const part = value / 255;
            return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const contrast = (a, b) => {
          const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
          return (light + 0.05) / (dark + 0.05);
        };
        const background = node => {
          for (let at = node; at; at = at.parentElement) {
            const color = parse(getComputedStyle(at).backgroundColor);
            if (color.length === 3 || color[3] > 0.99) return color;
          }
          return [255, 255, 255];
        };
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const found = [];
        let seen = 0;
        while (walker.nextNode()) {
          const node = walker.currentNode.parentElement;
          if (walker.currentNode.data.trim() === "" || node.closest("script, style, title, .aside, :disabled")) continue;
          if (node.getClientRects().length === 0 || node.closest(".live, .skip")) continue;
          const style = getComputedStyle(node);
          const isDrawn = node instanceof SVGElement;
          const ink = parse(isDrawn ? style.fill : style.color);
          const behind = isDrawn ? background(node.closest("svg").parentElement) : background(node);
          const size = parseFloat(style.fontSize);
          const isLarge = size >= 24 || (size >= 18.7 && Number(style.fontWeight) >= 700);
          const ratio = contrast(ink, behind);
          seen += 1;
          if (ratio < (isLarge ? 3 : 4.5)) found.push(`${ratio.toFixed(2)} ${node.textContent.slice(0, 40)}`);
        }
        return seen > 20 ? found : ["only " + seen + " texts seen"];
        """

    @Test(arguments: ["light", "dark"])
    func `every text can be read against its background`(scheme: String) async throws {
        try await open { browser, address in
            try await browser.emulate("prefers-color-scheme", scheme)
            for view in Self.views {
                try await browser.open(address + view)
                try await browser.run(Self.reveal)
                // Colors change during transitions.
                try await browser.run(
                    "document.getAnimations().forEach(animation => animation.finish())")
                let faint = try await browser.run(Self.faint) as? [String]
                #expect(faint == [], "\(view), \(scheme)")
            }
        }
    }

    @Test func `everything that can be operated has a role and a name`() async throws {
        try await open { browser, address in
            for view in Self.views + (1...8).map({ "#play/\($0)" }) + ["#R14/stage3"] {
                try await browser.open(address + view)
                try await browser.run(Self.reveal)
                let tree = try await browser.devTools("Accessibility.getFullAXTree", [:])
                let nodes = try #require((tree as? [String: Any])?["nodes"] as? [[String: Any]])
                func value(_ node: [String: Any], _ field: String) -> String {
                    (node[field] as? [String: Any])?["value"] as? String ?? ""
                }
                let visible = nodes.filter { $0["ignored"] as? Bool == false }
                let roles = Set(visible.map { value($0, "role") })
                for role in ["main", "banner", "navigation", "heading", "status", "button"] {
                    #expect(roles.contains(role), "\(view): \(role)")
                }
                let named = [
                    "button", "link", "radio", "checkbox", "image", "img", "region", "table",
                    "group", "DisclosureTriangle",
                ]
                for node in visible where named.contains(value(node, "role")) {
                    let role = value(node, "role")
                    if role == "table" || role == "group" { continue }
                    #expect(!value(node, "name").isEmpty, "\(view): \(node)")
                }
                for node in visible where !["RootWebArea", "main"].contains(value(node, "role")) {
                    let isFocusable = (node["properties"] as? [[String: Any]] ?? []).contains {
                        $0["name"] as? String == "focusable"
                    }
                    let isUnknown = ["", "generic"].contains(value(node, "role"))
                    #expect(
                        !isFocusable || !isUnknown && !value(node, "name").isEmpty,
                        "\(view): \(node)")
                }
            }
        }
    }

    @Test func `the focus goes through the page in the order in which it is read`() async throws {
        try await open(Self.link("R01", .naive, "S")) { browser, _ in
            try await browser.run(Self.reveal)
            let tops = """
                const order = [...document.querySelectorAll('a, button, input, summary, [tabindex="0"]')]
                  .filter(node => !node.disabled && node.getClientRects().length > 0 && !node.matches('.skip'));
                return order.some(node => node.tabIndex > 0) ? ["tabindex"] : order.map(node => node.id || node.textContent.slice(0, 20));
                """
            let order = try #require(try await browser.run(tops) as? [String])
            func place(_ name: String) throws -> Int {
                try #require(order.firstIndex { $0.contains(name) }, "\(name) in \(order)")
            }
            let expected = [
                "Matrix", "theme", "show-me", "Ssubscriber", "restart", "back", "order",
            ]
            let places = try expected.filter { $0 != "order" }.map(place)
            #expect(places == places.sorted())
        }
    }

    // MARK: Hostile text

    @Test func `nothing in a source file, a name or a state becomes markup`() async throws {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "hostile-\(ProcessInfo.processInfo.processIdentifier).html")
        defer { try? FileManager.default.removeItem(at: file) }
        try Hostile.exploration().html.write(to: file, atomically: true, encoding: .utf8)
        try await open(page: file.absoluteString) { browser, _ in
            try await browser.run(Self.reveal)
            try await browser.run(
                "while (page.view.path.take(page.view.race.nodes[page.view.path.node].edges[0]?.key)); page.view.update(); page.view.updateOrder();"
            )
            #expect(try await browser.text("typeof hacked") == "undefined")
            #expect(try await browser.text("document.querySelectorAll('img, b').length") == "0")
            #expect(
                try await browser.text("document.title === arguments[0]", [Hostile.text]) == "true")
            let body = try await browser.text("document.body.innerText")
            #expect(body.contains("</script><script>hacked = 1</script><img src=x"))
            #expect(body.contains("// <b>in the source</b>"))
        }
    }
}
