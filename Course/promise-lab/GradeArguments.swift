import Foundation
import Graders
import LabPage

extension Command {
    private static let number = Argument(name: "N", about: Argument.exercise.about)
    private static let file = Argument(
        name: "--file", value: "FILE", about: "the file of an answer",
        excludes: [Argument.workbook.name])
    private static let replayed = Argument(
        name: "--replay", value: "ID",
        about: "the id of a requirement, such as E05.4/2: shows one interleaving as a table")
    private static let schedule = Argument(
        name: "--schedule", value: "S", about: "the schedule of that interleaving, such as SRR",
        needs: replayed.name)
    private static let format = Argument(
        name: "--format", value: "FORMAT", choices: ["text", "html"], excludes: [replayed.name])
    private static let megabytes = Argument(
        name: "--megabytes", value: "N",
        about: "the limit on memory for an answer, in addition to the program's (1024; at least "
            + "512)")
    private static let submissions = Argument(
        name: "--submissions", value: "FOLDER",
        about: "a folder with a sub-folder for each student: grades them all",
        excludes: [Argument.workbook, file, replayed, schedule, format].map(\.name))
    private static let output = Argument(
        name: "--output", value: "FILE",
        about: "a file for the grades of a class, such as grades.csv, or for the page of "
            + "--format html")
    private static let reports = Argument(
        name: "--reports", value: "FOLDER",
        about: "a folder for a Markdown report for each student", needs: submissions.name)
    private static let afresh = Argument(
        name: "--afresh", about: "discards the results", needs: submissions.name)

    static let grade = Command(
        name: "grade", summary: "grades your answer, all of your answers, or a class",
        arguments: [
            number, .workbook, file, replayed, schedule, format, .seconds, megabytes, submissions,
            output, reports, afresh,
        ],
        help: """
            Grades an answer: compiles it, and tests every requirement of the exercise. Programs
            with several threads run in one interleaving of each kind, up to a number; the output
            says how many that were. For the first requirement that is not met, it shows the
            interleaving in your own lines, and asks a question. Without a number, it grades all
            answers of the workbook, with one line for each. --format html writes a page for
            stepping through the requirement that is not met in a browser, with your own lines:

              promise-lab grade 5 --format html --output answer.html

            Each answer runs in a process of its own, with limits. That contains
            accidents, but is no security boundary: read Exercises/TEACHING.md before you run other
            people's code. The sheet has comma-separated values. Results are kept next to it
            (SHEET.journal), so that grading can be resumed, and only changed answers are graded
            again:

              promise-lab grade --submissions Handed-in --output grades.csv

            The exit status of grade N, and of grade alone, is 1 if an answer is wrong, does not
            compile, is not accepted, or could not be graded; otherwise 0. An unchanged stub counts
            as not attempted, not as wrong, so a workbook of stubs gives 0. (A file named with
            --file is always graded.) With --replay: 0, whatever the interleaving shows; 2 if the
            schedule does not fit, or the answer cannot be run. With --format html: 0 if the page
            was written; 1 if there is none, because no requirement fails in an interleaving. With
            --submissions: 0, whatever the grades in the sheet are.
            """
    ) { arguments in
        Interruption.cleanUpWhenItComes()
        var limits = Limits()
        limits.seconds = try arguments.number(.seconds, or: limits.seconds)
        limits.memory = try arguments.number(megabytes, or: limits.memory >> 20, atLeast: 512) << 20
        if let folder = arguments[submissions] {
            let sheet = URL(filePath: try arguments.required(output))
            return try SubmissionsCommand(
                sheet: sheet, reports: arguments[reports].map { URL(filePath: $0) }
            ).run(URL(filePath: folder), limits, afresh: arguments.has(afresh))
        }
        if arguments.has(output), arguments[format] != "html" {
            throw Mistake("--output is useful only together with --submissions or --format html")
        }
        let workbook = try arguments.workbook()
        let choice = try arguments[replayed].map { ($0, try arguments.required(schedule)) }
        guard [number, file, replayed, format].contains(where: arguments.has) else {
            return GradeCommand.runAll(workbook, limits)
        }
        let exercise = try arguments.exercise()
        if let path = arguments[file], !FileManager.default.isReadableFile(atPath: path) {
            throw Mistake("\(path) cannot be read")
        }
        let command = GradeCommand(
            exercise: exercise, workbook: workbook,
            file: arguments[file].map { URL(filePath: $0) }, limits: limits)
        if let (requirement, schedule) = choice {
            try command.replay(requirement, schedule)
        } else if arguments[format] == "html" {
            try command.page(to: arguments[output])
        } else {
            try command.run()
        }
    }

    private static let isolated = Argument(name: "--isolated")

    /// The command that ``Grader`` starts: runs one answer, and writes a record.
    static let tryAnswer = Command(
        name: "try-answer",
        arguments: [.exercise, .seconds, isolated]
            + [
                "--library", "--protocol", "--memory", "--output", "--width", "--requirement",
                "--schedule", "--optimized", "--page",
            ].map { Argument(name: $0, value: "WORD") }
    ) { arguments in
        let number = { (name: String) in arguments[name].flatMap { Int($0) } ?? 0 }
        var limits = Limits()
        limits.seconds = number("--seconds")
        limits.memory = number("--memory")
        limits.output = number("--output")
        TableWidth.now = number("--width")
        let exercise = try arguments.exercise()
        let (library, file) = (arguments["--library"] ?? "", arguments["--protocol"] ?? "")
        guard
            let process = GraderProcess(
                exercise, library: URL(filePath: library), record: URL(filePath: file))
        else { throw Mistake("\(file) cannot be written") }
        let (only, isIsolated) = (arguments["--requirement"], arguments.has(isolated))
        if let only, let command = arguments["--page"] {
            process.describe(only, limits) { requirement, options, scenario in
                try RecordedExploration(
                    "Exercise \(exercise.number) · \(requirement.id) \(requirement.name)",
                    story: requirement.story, options: options, command: command, scenario
                ).html
            }
        } else if let only, let schedule = arguments["--schedule"] {
            process.replay(only, schedule, limits, isolated: isIsolated)
        } else {
            let optimized = arguments["--optimized"]?.split(separator: " ").map(String.init)
            process.run(limits, only: only, isolated: isIsolated, optimized: optimized)
        }
    }
}
