import Foundation
import Graders
import LabPage
import RaceLab
import SharedSuite
import TutorialExamples

extension Command {
    private static let output = Argument(
        name: "--output", value: "FILE", about: "the name of a file, instead of page.html")

    static let page = Command(
        name: "page", summary: "every race, to step through in a browser",
        arguments: [output, .only],
        help: """
            Writes one HTML file, page.html by default, that needs no network. It begins with an
            opening that needs no Swift, and has the matrix of every hazard on every stage, step and
            design, and every race to step through by hand. It shows the real source, you choose the
            thread that continues, and a map shows the states from which every interleaving fails.
            The address of a race ends with a schedule, as for replay:

              page.html#R01/stage1/SRRRSS

            All rows take some minutes. The exit status is 0.
            """
    ) { arguments in
        let output = arguments[output] ?? "page.html"
        let hazards = try arguments.hazards()
        try checkExploring()
        let html = try PageCommand.page(of: hazards).html
        try PageCommand.write(html, to: output)
        print("\(output): \((html.utf8.count / 1000).grouped) KB. Open it in a browser.")
    }
}

/// Writes the page on which every race can be stepped through.
enum PageCommand {
    /// Writes a page to a file or, without one, to standard output. If that is impossible, the file
    /// stays as it was.
    static func write(_ html: String, to output: String?) throws {
        guard let output else { return print(html, terminator: "") }
        try html.write(toFile: output, atomically: true, encoding: .utf8)
    }

    /// The stages and steps, each after the one that it builds on; then the designs.
    private static let subjects =
        [.naive, .handlers] + Subject.all(.step) + [.threadSafe] + Subject.all(.design)

    /// A million links take a minute in a debug build, this many only seconds. They also exhaust
    /// the stack if each of them takes a frame of at least 84 bytes.
    private static let linksOfChains = 100_000

    /// - Parameter record: records a scenario of a race, counted from 0, on a subject.
    static func page(
        of hazards: [any Hazard],
        _ record: (any Race, Int, Subject) throws -> RecordedExploration = exploration
    ) throws -> Page {
        let verdicts = LongChain.$links.withValue(linksOfChains) {
            Matrix.verdicts(of: hazards, on: Subject.all)
        }
        let progress = Progress()
        defer { progress.end() }
        var explorations: [String: RecordedExploration] = [:]
        for race in hazards.compactMap({ $0 as? any Race }) {
            for subject in Subject.all {
                if case .cannotExpress = race.expectation(on: subject) { continue }
                for number in 0..<race.recordedScenarios {
                    progress.now("\(race.id) \(race.name), \(subject): every interleaving")
                    let suffix = number == 0 ? "" : "-\(number + 1)"
                    explorations["\(race.id)/\(subject.link)\(suffix)"] = try record(
                        race, number, subject)
                }
            }
        }
        // The memory orderings in Appendix D of the Tutorial.
        let orderings = [
            ["id": "acquire-release", "title": "releasing and acquiring"],
            ["id": "sequential", "title": "sequentially consistent"],
        ]
        var doors: [String: [String]] = [:]
        for (column, door) in zip(orderings, [weakDoor, door])
        where hazards.count == Catalogue.all.count {
            let race = try RecordedExploration(
                "a door with two flags · \(column["title"]!)",
                story: "Each thread raises its own flag, and enters if it does not see the flag of "
                    + "the other one raised. At most one of them may be inside.", door)
            explorations["door/\(column["id"]!)"] = race
            let (failing, explored) = (race.exploration.failing, race.exploration.explored)
            doors[column["id"]!] = [failing > 0 ? "fails" : "survives", "\(failing)/\(explored)"]
        }
        let hasRace = { (id: String, subject: Subject) in
            explorations["\(id)/\(subject.link)"] != nil
        }
        let sentences = verdicts.flatMap { id, verdicts in
            verdicts.filter { !hasRace(id, $0.key) }.map(\.value.sentence)
        }
        // Each sentence once.
        let details = Set(sentences).sorted()
        let rows = Catalogue.groups.flatMap { group in
            group.hazards.compactMap { hazard in
                verdicts[hazard.id].map { verdicts in
                    row(of: hazard, in: group.title, verdicts, details) { hasRace(hazard.id, $0) }
                }
            }
        }
        // The opening, the races in an order to learn, and the matrix.
        let front: [String: Any] = [
            // Races that are not in the matrix, in columns of their own.
            "examples": [
                [
                    "id": "door", "name": "a door with two flags",
                    "title": "Two threads want to enter a room for one", "group": "",
                    "cells": doors,
                ] as [String: Any]
            ],
            "columnsOfExamples": orderings,
            "columns": subjects.map {
                // A design has the name that it has in the terminal.
                ["id": $0.link, "title": $0.kind == .design ? $0.title : "\($0)"]
            },
            "rows": rows, "toolchain": DoctorCommand.compiler, "details": details,
        ]
        let json = try JSONSerialization.data(
            withJSONObject: front, options: [.sortedKeys, .withoutEscapingSlashes])
        let read = { (name: String) in
            let file = Workbook.package.appending(path: "Course/CoursePage/\(name)")
            return try String(contentsOf: file, encoding: .utf8)
        }
        let scripts = ["matrix.js", "hazards.js", "scene.js", "opening.js", "front.js"]
        return Page(
            title: "A promise in three stages",
            front: Page.Front(
                scripts: try scripts.map(read), style: try read("course.css"),
                data: String(decoding: json, as: UTF8.self)),
            explorations: explorations)
    }

    /// - Parameter number: which of the scenarios of a row that has several.
    static func exploration(
        of race: any Race, _ number: Int = 0, on subject: Subject
    ) throws -> RecordedExploration {
        let count = race.recordedScenarios
        let isOneOfSeveral = " (Scenario \(number + 1) of \(count).)"
        return try RecordedExploration(
            "\(race.id) · \(race.name) · \(subject)",
            story: count > 1 ? race.story + isOneOfSeveral : race.storyOfOne,
            options: race.options,
            command: number == 0 ? "promise-lab replay \(race.id) \(subject.option)" : nil,
            race.scenario(number, on: subject))
    }

    /// A row of the matrix. Each cell is an array: its verdict, its text, such as `1/3 lost`, and,
    /// if the page has no race for it, which of the details says what happened.
    private static func row(
        of hazard: any Hazard, in group: String, _ verdicts: [Subject: Verdict],
        _ details: [String], hasRace: (Subject) -> Bool
    ) -> [String: Any] {
        let words = ["✓": "survives", "✗": "fails", "–": "cannotExpress", "?": "unknown"]
        var cells: [String: [Any]] = [:]
        for (subject, verdict) in verdicts {
            let cell = Matrix.Cell(verdict, hazard.expectation(on: subject))
            let detail = hasRace(subject) ? nil : details.firstIndex(of: verdict.sentence)
            cells[subject.link] = [words[cell.mark]!, cell.text] + (detail.map { [$0] } ?? [])
        }
        var row: [String: Any] = [
            "id": hazard.id, "name": hazard.name, "group": group, "cells": cells,
        ]
        // What happens, for readers who do not know the code.
        row["title"] = (hazard as? any Race)?.title
        if !verdicts.keys.allSatisfy(hasRace) {
            let links = "For this page, the chain had \(linksOfChains.grouped) links."
            row["story"] = hazard.story + (hazard is any LongChainHazard ? " \(links)" : "")
        }
        return row
    }
}

extension Subject {
    /// The part of a page link that names this subject: `stage1`, `stepB`.
    var link: String { "\(kind)\(word)" }
}
