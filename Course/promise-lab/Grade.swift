import Foundation
import Graders
import LabPage
import RaceLab

/// Grades an answer: the reader's own, or any file.
enum GradeCommand {
    static func run(_ exercise: Exercise, _ workbook: Workbook, _ file: URL?, _ limits: Limits)
        throws
    {
        Interruption.cleanUpWhenItComes()
        let progress = Progress()
        progress.now("exercise \(exercise.number): compiling and exploring")
        let grade =
            file.map { grader(limits, Terminal.tableWidth).grade(exercise, $0) }
            ?? Self.grade(exercise, workbook, limits)
        progress.end()
        print(text(of: grade, exercise, file ?? workbook.file(exercise)), terminator: "")
        if case .unavailable(let why) = grade.result { throw Unfinished(why) }
        if grade.isPassed, file == nil {
            print("\n" + Terminal.wrapped(ExercisesCommand.nextStep(Ledger(workbook), workbook)))
        }
        if !grade.isPassed, grade.result != .notAttempted { exit(1) }
    }

    /// Writes a page for the first requirement that is not met. If that is a schedule to find, the
    /// page has every interleaving to play with.
    static func page(
        _ exercise: Exercise, _ workbook: Workbook, _ file: URL?, _ limits: Limits,
        to output: String?
    ) throws {
        Interruption.cleanUpWhenItComes()
        let answer = file ?? workbook.file(exercise)
        let progress = Progress()
        defer { progress.end() }
        progress.now("exercise \(exercise.number): compiling and exploring")
        let grade =
            file.map { grader(limits).grade(exercise, $0) }
            ?? Self.grade(exercise, workbook, limits)
        guard case .failed(let failure) = grade.result,
            failure.failing != nil || failure.isAboutSchedule,
            let requirement = grade.unmet.flatMap(exercise.requirement)
        else {
            throw Unfinished(
                "there is no page, because no requirement fails in an interleaving:\n"
                    + text(of: grade, exercise, answer))
        }
        guard failure.reason != "crash" else {
            throw Unfinished(
                "there is no page, because an interleaving ends the process that would record "
                    + "it. It is the one in this table:\n" + text(of: grade, exercise, answer))
        }
        progress.now("exercise \(exercise.number): every interleaving of \(requirement.id)")
        let again = gradeCommand(exercise, answer) + " --replay \(requirement.id)"
        do {
            let page = try grader(limits).page(exercise, answer, requirement, command: again)
            try PageCommand.write(page, to: output)
        } catch let refusal as Grader.Refusal {
            throw Unfinished(refusal.description)
        }
    }

    static func replay(
        _ exercise: Exercise, _ file: URL, _ id: String, _ schedule: String, _ limits: Limits
    ) throws {
        Interruption.cleanUpWhenItComes()
        guard let requirement = exercise.requirement(id) else {
            let ids = exercise.requirements.map(\.id).joined(separator: ", ")
            throw Mistake("exercise \(exercise.number) has nothing called '\(id)'; it has \(ids)")
        }
        do {
            let (table, verdict) = try grader(limits, Terminal.tableWidth).replay(
                exercise, file, requirement, schedule)
            print(Terminal.wrapped(heading(requirement)))
            print("\n\(Terminal.text(table))\n")
            for sentence in verdict { print(Terminal.wrapped([sentence])) }
        } catch let refusal as Grader.Refusal {
            throw Mistake(refusal.description)
        }
    }

    /// Grades everything in a workbook that is no longer an unchanged stub.
    static func runAll(_ workbook: Workbook, _ limits: Limits) throws {
        Interruption.cleanUpWhenItComes()
        let attempted = Exercise.all.filter { !workbook.isUntouched($0) }
        if attempted.isEmpty { print("Nothing has been attempted yet: promise-lab exercises") }
        var failed = 0
        for exercise in attempted {
            let grade = grade(exercise, workbook, limits)
            print(title(of: exercise, grade))
            if !grade.isPassed { failed += 1 }
        }
        if failed > 0 { exit(1) }
    }

    static func grade(
        _ exercise: Exercise, _ workbook: Workbook, _ limits: Limits = Limits()
    ) -> Grade {
        let grade = grader(limits, Terminal.tableWidth).grade(exercise, in: workbook)
        var ledger = Ledger(workbook)
        ledger.note(grade, of: exercise)
        ledger.save()
        return grade
    }

    static func grader(_ limits: Limits, _ tableWidth: Int = TableWidth.usual) -> Grader {
        Grader(
            command: Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]),
            limits: limits, tableWidth: tableWidth)
    }

    // MARK: In words

    static func text(of grade: Grade, _ exercise: Exercise, _ file: URL) -> String {
        var lines = [title(of: exercise, grade), shortened(file), ""]
        lines += grade.met.compactMap { met in
            exercise.requirement(met.id).map { line(of: $0, met) }
        }
        switch grade.result {
        case .notAttempted:
            let command = "promise-lab exercise \(exercise.number)"
            lines += [
                FileManager.default.fileExists(atPath: file.path)
                    ? "This is the unchanged stub. To read the task: \(command)"
                    : "There is no such file yet. To write it: \(command) --start"
            ]
        case .doesNotCompile(let errors):
            lines += ["It does not compile:", ""]
            lines += errors.split(separator: "\n").map { Terminal.wrapped(String($0)) }
        case .refused(let why):
            lines += [Terminal.wrapped([Span("✗ ", .failure), Span("It was not run: \(why).")])]
        case .passed:
            lines += grade.met.flatMap(\.remarks).map { Terminal.wrapped("! \($0)", margin: 2) }
            lines += ["", Terminal.wrapped(exercise.afterword)]
        case .failed(let failure):
            lines += self.lines(of: failure, grade, exercise, file)
        case .unavailable(let why):
            lines += [Terminal.wrapped("It could not be tried: \(why)")]
        }
        if !grade.printed.isEmpty {
            lines += ["", "The first lines of its output:", ""]
            lines += grade.printed.split(separator: "\n")
                .map { "  \(String($0).cut(to: Terminal.width - 4))" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    static func title(of exercise: Exercise, _ grade: Grade) -> String {
        Terminal.spread(
            [Span("Exercise \(exercise.number) · \(exercise.title)\(grade.nameOfVariant)", .title)],
            verdict(of: grade))
    }

    private static func verdict(of grade: Grade) -> Span {
        switch grade.result {
        case .notAttempted: Span("not attempted")
        case .doesNotCompile: Span("does not compile")
        case .refused: Span("not accepted")
        case .passed: Span("solved", .success)
        case .failed: Span("not solved", .failure)
        case .unavailable: Span("not graded")
        }
    }

    private static func line(of requirement: Requirement, _ met: Grade.Met) -> String {
        Terminal.spread(
            [Span("✓ ", .success), Span(heading(requirement))], Span(extent(of: met)))
    }

    private static func extent(of met: Grade.Met) -> String {
        let programs = met.programs.map { "\($0.grouped) programs" }
        guard let explored = met.explored else { return programs ?? "" }
        if explored == 1 { return "in the one interleaving" }
        let number = "\(explored.grouped) interleavings"
        let extent =
            switch met.coverage {
            case .all, .atMost:
                met.coverage.description.replacing(
                    "all interleavings", with: "in every one of \(number)")
            case .first: "in the first \(number)"
            case .sampled: "in \(number) drawn at random"
            }
        return [programs, extent].compactMap(\.self).joined(separator: ", ")
    }

    private static func heading(_ requirement: Requirement) -> String {
        "\(requirement.id) \(requirement.name)"
    }

    private static func lines(
        of failure: Failure, _ grade: Grade, _ exercise: Exercise, _ file: URL
    ) -> [String] {
        var lines: [String] = []
        let requirement = grade.unmet.flatMap(exercise.requirement)
        let count = failure.failing.flatMap { failing in
            failure.explored.map { ", in \(failing.grouped) of \($0.grouped) interleavings" }
        }
        lines.append(
            Terminal.spread(
                [Span("✗ ", .failure), Span(requirement.map(heading) ?? "it was ended")],
                Span(failure.reason + (count ?? ""))))
        if let requirement { lines.append(Terminal.wrapped(requirement.story, margin: 2)) }
        if let table = failure.table { lines += ["", Terminal.text(table)] }
        lines += ["", Terminal.wrapped("✗ \(failure.detail)", .failure)]
        if let schedule = failure.schedule, let requirement {
            let command = "again: \(gradeCommand(exercise, file))"
            let choice = "--replay \(requirement.id) --schedule \(schedule.quotedForShell)"
            // In a form that can be pasted into a shell, on one line or on two.
            let fits = command.count + 1 + choice.count <= Terminal.width
            lines.append(command + (fits ? " " : " \\\n    ") + choice)
        }
        if let question = requirement?.question(for: failure) {
            lines += ["", Terminal.wrapped("Question: \(question)")]
        }
        return lines
    }

    private static func gradeCommand(_ exercise: Exercise, _ file: URL) -> String {
        "promise-lab grade \(exercise.number)"
            + (isOwn(file, exercise) ? "" : " --file \(shortened(file).quotedForShell)")
    }

    private static func isOwn(_ file: URL, _ exercise: Exercise) -> Bool {
        file.resolvingSymlinksInPath().path
            == Workbook.own.file(exercise).resolvingSymlinksInPath().path
    }

    static func shortened(_ file: URL) -> String {
        for folder in [FileManager.default.currentDirectoryPath, Workbook.package.path]
        where file.path.hasPrefix(folder + "/") {
            return String(file.path.dropFirst(folder.count + 1))
        }
        return file.path
    }
}
