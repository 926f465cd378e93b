import Foundation
import LabPage
import RaceLab
import SharedSuite

extension Command {
    private static let output = Argument.option(
        "--output", "FILE", "the name of a file, instead of page.html")

    static let page = Command(
        "page", "every race, to step through in a browser", [output, .only],
        help: """
            Writes one HTML file, page.html by default, that needs no network. It has the matrix of
            every hazard on every stage, step and design, and every race to step through by hand. It
            shows the real source, you choose the thread that continues, and a map shows the states
            from which every interleaving fails. The address of a race ends with a schedule, as for
            replay:

              page.html#R01/stage1/SRRRSS

            All rows take up to a minute. The exit status is 0.
            """
    ) { arguments in
        try PageCommand.run(output: arguments[output] ?? "page.html", arguments.hazards())
    }
}

/// Writes the page on which every race can be stepped through.
enum PageCommand {
    static func run(output: String, _ hazards: [any Hazard]) throws {
        if let unavailable = Exploration.unavailable {
            throw Matrix.Unavailable(description: unavailable)
        }
        let html = try page(of: hazards).html
        do {
            try html.write(toFile: output, atomically: true, encoding: .utf8)
        } catch {
            throw Failure(description: "cannot write \(output): \(error.localizedDescription)")
        }
        print("\(output): \((html.utf8.count / 1000).grouped) KB. Open it in a browser.")
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The stages and steps, each after the one that it builds on; then the designs.
    private static let subjects =
        [.naive, .handlers] + Subject.all(.step) + [.threadSafe] + Subject.all(.design)

    /// A million links take a minute in a debug build, this many only seconds. They also exhaust
    /// the stack if each of them takes a frame of at least 84 bytes.
    private static let linksOfChains = 100_000

    private static func page(of hazards: [any Hazard]) throws -> Page {
        setenv(LongChain.variableForLinks, "\(linksOfChains)", 1)
        let progress = Progress()
        defer { progress.end() }
        let verdicts = Matrix.verdicts(of: hazards, on: Subject.all, progress)
        var explorations: [String: RecordedExploration] = [:]
        for race in hazards.compactMap({ $0 as? any Race }) {
            for subject in Subject.all {
                if case .cannotExpress = race.expectation(on: subject) { continue }
                progress.now("\(race.id) \(race.name), \(subject): every interleaving")
                explorations["\(race.id)/\(subject.link)"] = try exploration(of: race, on: subject)
            }
        }
        return Page(
            title: "A promise in three stages",
            columns: subjects.map { Page.Column(id: $0.link, title: $0.titleOnPage) },
            rows: Catalogue.groups.flatMap { group in
                group.hazards.compactMap { hazard in
                    verdicts[hazard.id].map { row(of: hazard, in: group.title, $0) }
                }
            },
            explorations: explorations)
    }

    static func exploration(of race: any Race, on subject: Subject) throws -> RecordedExploration {
        try RecordedExploration(
            "\(race.id) · \(race.name) · \(subject)", story: race.storyOfOne, options: race.options,
            command: "promise-lab replay \(race.id) \(subject.option)", race.scenario(on: subject))
    }

    private static func row(
        of hazard: any Hazard, in group: String, _ verdicts: [Subject: Verdict]
    ) -> Page.Row {
        let cells = Subject.all.compactMap { subject in
            verdicts[subject].map { verdict in
                (subject.link, cell(verdict, hazard.expectation(on: subject)))
            }
        }
        let isShorter = hazard is any LongChainHazard
        let story =
            hazard.story
            + (isShorter ? " For this page, the chain had \(linksOfChains.grouped) links." : "")
        return Page.Row(
            id: hazard.id, name: hazard.name, story: story, group: group,
            cells: Dictionary(uniqueKeysWithValues: cells))
    }

    private static func cell(_ verdict: Verdict, _ expectation: Expectation) -> Page.Cell {
        switch verdict {
        case .survives(let explored, let detail):
            Page.Cell(.survives, text: explored.map { "0/\($0)" } ?? "", detail: "\(detail)")
        case .fails(let reasons, let failing, let explored, let detail):
            Page.Cell(
                .fails, text: counted(failing, explored) + Matrix.word(reasons, expectation),
                detail: "\(detail)")
        case .cannotExpress(let why):
            Page.Cell(.cannotExpress, text: "", detail: why)
        case .unknown(let why):
            Page.Cell(.unknown, text: "unknown", detail: why)
        }
    }

    private static func counted(_ failing: Int?, _ explored: Int?) -> String {
        guard let failing, let explored else { return "" }
        return "\(failing)/\(explored) "
    }
}

extension Subject {
    /// The part of a page link that names this subject: `stage1`, `stepB`.
    var link: String { "\(kind)\(word)" }

    fileprivate var titleOnPage: String { kind == .step ? description : title }
}
