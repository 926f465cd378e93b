import Foundation
import LabPage
import RaceLab
import SharedSuite
import TutorialExamples

extension Command {
    private static let output = Argument.option(
        "--output", "FILE", "the name of a file, instead of page.html")

    static let page = Command(
        "page", "every race, to step through in a browser", [output, .only],
        help: """
            Writes one HTML file, page.html by default, that needs no network. It begins with an
            opening that needs no Swift, and has the matrix of every hazard on every stage, step and
            design, and every race to step through by hand. It shows the real source, you choose the thread that continues, and a map shows the states
            from which every interleaving fails. The address of a race ends with a schedule, as for
            replay:

              page.html#R01/stage1/SRRRSS

            All rows take some minutes. The exit status is 0.
            """
    ) { arguments in
        try PageCommand.run(output: arguments[output] ?? "page.html", arguments.hazards())
    }
}

/// Writes the page on which every race can be stepped through.
enum PageCommand {
    static func run(output: String, _ hazards: [any Hazard]) throws {
        try checkExploring()
        let html = try page(of: hazards).html
        try write(html, to: output)
        print("\(output): \((html.utf8.count / 1000).grouped) KB. Open it in a browser.")
    }

    /// Writes a page to a file or, without one, to standard output. If that is impossible, the file
    /// stays as it was.
    static func write(_ html: String, to output: String?) throws {
        guard let output else { return print(html, terminator: "") }
        do {
            try html.write(toFile: output, atomically: true, encoding: .utf8)
        } catch {
            throw Unfinished("cannot write \(output): \(error.localizedDescription)")
        }
    }

    /// The stages and steps, each after the one that it builds on; then the designs.
    private static let subjects =
        [.naive, .handlers] + Subject.all(.step) + [.threadSafe] + Subject.all(.design)

    /// A million links take a minute in a debug build, this many only seconds. They also exhaust
    /// the stack if each of them takes a frame of at least 84 bytes.
    private static let linksOfChains = 100_000

    static func page(of hazards: [any Hazard]) throws -> Page {
        setenv(LongChain.variableForLinks, "\(linksOfChains)", 1)
        let progress = Progress()
        defer { progress.end() }
        let verdicts = Matrix.verdicts(of: hazards, on: Subject.all, progress)
        var explorations: [String: RecordedExploration] = [:]
        for race in hazards.compactMap({ $0 as? any Race }) {
            for subject in Subject.all {
                if case .cannotExpress = race.expectation(on: subject) { continue }
                for number in 0..<race.recordedScenarios {
                    progress.now("\(race.id) \(race.name), \(subject): every interleaving")
                    let suffix = number == 0 ? "" : "-\(number + 1)"
                    explorations["\(race.id)/\(subject.link)\(suffix)"] = try exploration(
                        of: race, number, on: subject)
                }
            }
        }
        var doors: [String: PageFront.Cell] = [:]
        for (column, door) in zip(PageFront.orderings, [weakDoor, door])
        where hazards.count == Catalogue.all.count {
            let race = try RecordedExploration(
                "a door with two flags · \(column.title)",
                story: "Each thread raises its own flag, and enters if it does not see the flag of "
                    + "the other one raised. At most one of them may be inside.", door)
            explorations["door/\(column.id)"] = race
            let (failing, explored) = (race.exploration.failing, race.exploration.explored)
            doors[column.id] = PageFront.Cell(
                verdict: failing > 0 ? .fails : .survives, text: "\(failing)/\(explored)",
                detail: nil)
        }
        let front = PageFront(
            examples: [
                PageFront.Row(
                    id: "door", name: "a door with two flags",
                    title: "Two threads want to enter a room for one", story: nil, group: "",
                    cells: doors)
            ],
            columns: subjects.map {
                // A design has the name that it has in the terminal.
                PageFront.Column(id: $0.link, title: $0.kind == .design ? $0.title : "\($0)")
            },
            rows: Catalogue.groups.flatMap { group in
                group.hazards.compactMap { hazard in
                    verdicts[hazard.id].map { verdicts in
                        row(of: hazard, in: group.title, verdicts) {
                            explorations["\(hazard.id)/\($0.link)"] != nil
                        }
                    }
                }
            },
            toolchain: DoctorCommand.compiler)
        return Page(
            title: "A promise in three stages", front: try front.front(),
            explorations: explorations)
    }

    /// - Parameter number: which of the scenarios of a row that has several.
    static func exploration(
        of race: any Race, _ number: Int = 0, on subject: Subject
    ) throws -> RecordedExploration {
        let count = race.recordedScenarios
        let isOneOfSeveral = count > 1 ? " (Scenario \(number + 1) of \(count).)" : ""
        return try RecordedExploration(
            "\(race.id) · \(race.name) · \(subject)",
            story: count > 1 ? race.story + isOneOfSeveral : race.storyOfOne,
            options: race.options,
            command: number == 0 ? "promise-lab replay \(race.id) \(subject.option)" : nil,
            race.scenario(number, on: subject))
    }

    private static func row(
        of hazard: any Hazard, in group: String, _ verdicts: [Subject: Verdict],
        hasRace: (Subject) -> Bool
    ) -> PageFront.Row {
        let cells = Subject.all.compactMap { subject in
            verdicts[subject].map { verdict in
                let cell = cell(verdict, hazard.expectation(on: subject))
                return (
                    subject.link,
                    PageFront.Cell(
                        verdict: cell.verdict, text: cell.text,
                        detail: hasRace(subject) ? nil : cell.detail)
                )
            }
        }
        let isShorter = hazard is any LongChainHazard
        let story =
            hazard.story
            + (isShorter ? " For this page, the chain had \(linksOfChains.grouped) links." : "")
        return PageFront.Row(
            id: hazard.id, name: hazard.name, title: (hazard as? any Race)?.title,
            story: verdicts.keys.allSatisfy(hasRace) ? nil : story, group: group,
            cells: Dictionary(uniqueKeysWithValues: cells))
    }

    private static func cell(_ verdict: Verdict, _ expectation: Expectation) -> PageFront.Cell {
        switch verdict {
        case .survives(let explored, let detail):
            PageFront.Cell(
                verdict: .survives, text: explored.map { "0/\($0)" } ?? "", detail: "\(detail)")
        case .fails(let reasons, let failing, let explored, let detail):
            PageFront.Cell(
                verdict: .fails,
                text: counted(failing, explored) + Matrix.word(reasons, expectation),
                detail: "\(detail)")
        case .cannotExpress(let why):
            PageFront.Cell(verdict: .cannotExpress, text: "", detail: why)
        case .unknown(let why):
            PageFront.Cell(verdict: .unknown, text: "unknown", detail: why)
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
}
