import Foundation
import RaceLab
import SharedSuite
import Testing

/// The page in a real browser: what a click leads to is what the lab says. A suite of its own,
/// because these tests take as long as all others of the page together.
@Suite(.serialized, .sharesBrowser, .needsBrowser)
struct BrowserVerdictTests {
    private let page = BrowserTests()

    private static func race(_ id: String) throws -> any Race {
        try #require(Catalogue.hazard(id) as? any Race)
    }

    /// The verdict that the page must show at the end of an interleaving, according to the lab.
    private static func verdict(_ trace: Exploration.Trace, of race: any Race) -> String {
        let judged = trace.findings.filter { race.failingKinds.contains($0.kind) }
        if judged.isEmpty { return "✓ every check holds" }
        return judged.map { "✗ \($0)" }.joined(separator: "; ")
    }

    private static func replay(
        _ schedule: String, of race: any Race, on subject: Subject
    ) throws -> Exploration.Trace {
        var options = race.options
        options.marksPointOfNoReturn = false  // not compared
        return try Exploration.replay(schedule, options: options, race.scenario(on: subject))
    }

    /// Clicks through every interleaving of the page with the page's own buttons, forward and
    /// backward.
    private static let clickThroughAll = """
        page.view.predict(null);
        const found = [];
        const buttons = () => [...document.querySelectorAll(".lanes button:not([aria-disabled])")];
        const go = () => {
          const keys = buttons().map(button => button.dataset.key);
          if (keys.length === 0) {
            const path = page.view.path;
            const link = document.querySelector(".schedule a");
            found.push([link ? link.textContent : "",
              document.querySelector(".verdict-now").textContent,
              String(path.races().length > 0), path.kind]);
          }
          for (const key of keys) {
            buttons().find(button => button.dataset.key === key).click();
            go();
            document.getElementById("back").click();
          }
        };
        go();
        return found;
        """

    @Test func `every interleaving of R01 that is clicked ends in the verdict of replay`()
        async throws
    {
        let race = try Self.race("R01")
        for subject in BrowserTests.subjects(for: race) {
            try await page.open(BrowserTests.link("R01", subject)) { browser, _ in
                let found = try #require(
                    try await browser.run(Self.clickThroughAll) as? [[String]])
                let orders = try await browser.text("page.view.race.total[page.view.race.root]")
                let kinds = try await browser.text("page.view.race.data.explored")
                var options = race.options
                options.reduction = false
                let unreduced = explore(options: options, race.scenario(on: subject))
                #expect(found.count == unreduced.explored, "\(subject)")
                #expect(String(found.count) == orders, "\(subject)")
                #expect(String(Set(found.map { $0[3] }).count) == kinds, "\(subject)")
                // For tasks, the page does not know happens-before, and shows no races.
                let knowsOrder = !subject.hasAsyncFunctions
                #expect(
                    try await browser.text("page.view.race.knowsOrder") == String(knowsOrder))
                for row in found {
                    let trace = try Self.replay(row[0], of: race, on: subject)
                    #expect(row[1] == Self.verdict(trace, of: race), "\(subject) \(row[0])")
                    let races =
                        knowsOrder
                        && trace.findings.contains { $0.kind == .dataRace || $0.kind == .overlap }
                    #expect(row[2] == String(races), "races: \(subject) \(row[0])")
                }
            }
        }
    }

    @Test func `show me leads every other race to a failure that replay confirms`() async throws {
        try await page.open { browser, address in
            try await browser.emulate("prefers-reduced-motion", "reduce")
            for race in Catalogue.races where race.id != "R01" {
                for subject in BrowserTests.subjects(for: race)
                where race.expectation(on: subject) != .survives {
                    try await browser.open(address + BrowserTests.link(race.id, subject))
                    try await browser.click("#predict-fails")
                    try await browser.click("#show-me")
                    let fails = try await browser.text("page.view.race.fails")
                    try await browser.run(
                        "while (page.view.undone.length > 0) "
                            + "document.getElementById('forward').click()")
                    let schedule = try await browser.text("page.view.path.schedule")
                    let status = try await browser.text(
                        "document.querySelector('.verdict-now').textContent")
                    let trace = try Self.replay(schedule, of: race, on: subject)
                    #expect(
                        status == Self.verdict(trace, of: race),
                        "\(race.id) \(subject) \(schedule)"
                    )
                    #expect(fails == String(status.hasPrefix("✗")), "\(race.id) \(subject)")
                    let page = try await browser.text("document.body.innerText")
                    #expect(!page.contains("undefined"), "\(race.id) \(subject) \(schedule)")
                    let names = try #require(try await browser.run(BrowserTests.names) as? [String])
                    // An instance that is the only one of its class has no name in the trace, and
                    // the names of instances that threads create depend on the interleaving.
                    let owners = zip(trace.steps, names).map { step, name in
                        step.instance?.maker == nil ? step.owner ?? name : name
                    }
                    #expect(
                        names == owners && names.count == trace.steps.count,
                        "names: \(race.id) \(subject) \(schedule): \(names), \(owners)")
                }
            }
        }
    }
}
