import Foundation
import Graders
import LabPage

extension Command {
    private static let number = Argument.word("N", Argument.exercise.about, isRequired: false)
    private static let file = Argument.option(
        "--file", "FILE", "the file of an answer", excludes: [Argument.workbook.name])
    private static let replayed = Argument.option(
        "--replay", "ID", "the id of a requirement, such as R01: shows one interleaving as a table")
    private static let schedule = Argument.option(
        "--schedule", "S", "the schedule of that interleaving, such as SRR", needs: replayed.name)
    private static let format = Argument.format(["text", "html"], excludes: [replayed.name])
    private static let megabytes = Argument.option(
        "--megabytes", "N",
        "the limit on memory for an answer, in addition to the program's (1024; at least 512)")
    private static let submissions = Argument.option(
        "--submissions", "FOLDER", "a folder with a sub-folder for each student: grades them all",
        excludes: [Argument.workbook, file, replayed, schedule, format].map(\.name))
    private static let output = Argument.option(
        "--output", "FILE",
        "a file for the grades of a class, such as grades.csv, or for the page of --format html")
    private static let reports = Argument.option(
        "--reports", "FOLDER", "a folder for a Markdown report for each student",
        needs: submissions.name)
    private static let afresh = Argument.flag(
        "--afresh", "discards the results", needs: submissions.name)

    static let grade = Command(
        "grade", "grades your answer, all of your answers, or a class",
        [
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

            With --submissions, each answer runs in a process of its own, with limits. That contains
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
        var limits = Limits()
        limits.seconds = try arguments.number(.seconds, or: limits.seconds)
        limits.memory = try arguments.number(megabytes, or: limits.memory >> 20, atLeast: 512) << 20
        if let folder = arguments[submissions] {
            return try SubmissionsCommand.run(
                SubmissionsCommand.Task(
                    submissions: URL(filePath: folder),
                    sheet: URL(filePath: try arguments.required(output)),
                    reports: arguments[reports].map { URL(filePath: $0) },
                    isAfresh: arguments.has(afresh), limits: limits))
        }
        try gradeOne(arguments, limits)
    }

    private static func gradeOne(_ arguments: Arguments, _ limits: Limits) throws {
        if arguments.has(output), arguments[format] != "html" {
            throw Mistake("--output is useful only together with --submissions or --format html")
        }
        let workbook = try arguments.workbook()
        let choice = try arguments[replayed].map { _ in try arguments.required(schedule) }
        guard [number, file, replayed, format].contains(where: arguments.has) else {
            return try GradeCommand.runAll(workbook, limits)
        }
        let exercise = try arguments.exercise()
        if let path = arguments[file], !FileManager.default.isReadableFile(atPath: path) {
            throw Mistake("\(path) cannot be read")
        }
        let url = arguments[file].map { URL(filePath: $0) }
        if arguments[format] == "html" {
            return try GradeCommand.page(exercise, workbook, url, limits, to: arguments[output])
        }
        guard let requirement = arguments[replayed], let choice else {
            return try GradeCommand.run(exercise, workbook, url, limits)
        }
        try GradeCommand.replay(
            exercise, url ?? workbook.file(exercise), requirement, choice, limits)
    }

    private static let library = Argument.option(
        "--library", "FILE", "the library of an answer", isRequired: true)
    private static let record = Argument.option(
        "--protocol", "FILE", "a file to write to", isRequired: true)
    private static let memory = Argument.option("--memory", "N", "a number of bytes")
    private static let printed = Argument.option("--output", "N", "a number of bytes")
    private static let requirement = Argument.option(
        "--requirement", "ID", "the id of a requirement")
    private static let choice = Argument.option("--schedule", "S", "a schedule")
    private static let isolated = Argument.flag("--isolated", "each interleaving in a process")
    private static let optimized = Argument.option(
        "--optimized", "IDS", "the ids of requirements")
    private static let width = Argument.option("--width", "N", "a number of columns")
    private static let pageCommand = Argument.option(
        "--page", "COMMAND", "the command that replays")

    /// The command that ``Grader`` starts: runs one answer, and writes a record.
    static let tryAnswer = Command(
        "try-answer", "",
        [
            .exercise, library, record, .seconds, memory, printed, requirement, choice, isolated,
            optimized, width, pageCommand,
        ]
    ) { arguments in
        var limits = Limits()
        limits.seconds = try arguments.number(.seconds, or: limits.seconds)
        limits.memory = try arguments.number(memory, or: limits.memory)
        limits.output = try arguments.number(printed, or: limits.output)
        TableWidth.now = try arguments.number(width, or: TableWidth.usual)
        let exercise = try arguments.exercise()
        let file = try arguments.required(record)
        guard
            let process = GraderProcess(
                exercise, library: URL(filePath: try arguments.required(library)),
                record: URL(filePath: file))
        else { throw Mistake("\(file) cannot be written") }
        if let only = arguments[requirement], let command = arguments[pageCommand] {
            process.describe(only, limits) { requirement, options, scenario in
                try RecordedExploration(
                    "Exercise \(exercise.number) · \(requirement.id) \(requirement.name)",
                    story: requirement.story, options: options, command: command, scenario
                ).html
            }
        } else if let only = arguments[requirement], let schedule = arguments[choice] {
            process.replay(only, schedule, limits, isolated: arguments.has(isolated))
        } else {
            process.run(
                limits, only: arguments[requirement], isolated: arguments.has(isolated),
                optimized: arguments[optimized]?.split(separator: " ").map(String.init))
        }
    }
}
