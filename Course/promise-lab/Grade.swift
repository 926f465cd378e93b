import Foundation
import Graders
import RaceLab

/// Grades an answer: the reader's own, or any file.
struct GradeCommand {
    let exercise: Exercise
    let workbook: Workbook
    /// The file of the answer, if it is not the one in the workbook.
    var file: URL?
    var limits = Limits()

    private var answer: URL { file ?? workbook.file(exercise) }
    private var grader: Grader { GradeCommand.grader(limits, Terminal.tableWidth) }

    static func grader(_ limits: Limits, _ tableWidth: Int = TableWidth.usual) -> Grader {
        Grader(
            command: Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]),
            limits: limits, tableWidth: tableWidth)
    }

    func run() throws {
        let grade = gradeWithProgress()
        print(text(of: grade), terminator: "")
        if case .unavailable(let why) = grade.result { throw Unfinished(why) }
        if grade.isPassed, file == nil { print("\n" + ExercisesCommand.nextStep(workbook)) }
        if !grade.isPassed, grade.result != .notAttempted { exit(1) }
    }

    private func gradeWithProgress() -> Grade {
        let progress = Progress("exercise \(exercise.number): compiling and exploring")
        defer { progress.end() }
        return grade()
    }

    /// An answer in the workbook is noted in the ledger.
    func grade() -> Grade {
        if let file { return grader.grade(exercise, file) }
        let grade = grader.grade(exercise, in: workbook)
        var ledger = Ledger(workbook)
        ledger.note(grade, of: exercise)
        ledger.save()
        return grade
    }

    /// Writes a page for the first requirement that is not met. If that is a schedule to find, the
    /// page has every interleaving to play with.
    func page(to output: String?) throws {
        let grade = gradeWithProgress()
        let refusal = { (why: String) in
            Unfinished("there is no page, because \(why):\n" + text(of: grade))
        }
        guard case .failed(let failure) = grade.result,
            failure.failing != nil || failure.isAboutSchedule,
            let requirement = grade.unmet.flatMap(exercise.requirement)
        else { throw refusal("no requirement fails in an interleaving") }
        if failure.reason == "crash" {
            throw refusal(
                "an interleaving ends the process that would record it. It is the one in this "
                    + "table")
        }
        let progress = Progress(
            "exercise \(exercise.number): every interleaving of \(requirement.id)")
        defer { progress.end() }
        let again = "\(words) --replay \(requirement.id)"
        try PageCommand.write(
            grader.page(exercise, answer, requirement, command: again), to: output)
    }

    func replay(_ id: String, _ schedule: String) throws {
        guard let requirement = exercise.requirement(id) else {
            let ids = exercise.requirements.map(\.id).joined(separator: ", ")
            throw Mistake("exercise \(exercise.number) has nothing called '\(id)'; it has \(ids)")
        }
        do {
            let (table, verdict) = try grader.replay(exercise, answer, requirement, schedule)
            print(Terminal.wrapped(GradeCommand.heading(requirement)))
            print("\n\(Terminal.text(table))\n")
            for sentence in verdict { print(Terminal.wrapped([sentence])) }
        } catch let refusal as Grader.Refusal {
            throw Mistake(refusal.description)
        }
    }

    /// Grades everything in a workbook that is no longer an unchanged stub.
    static func runAll(_ workbook: Workbook, _ limits: Limits) {
        let attempted = Exercise.all.filter { !workbook.isUntouched($0) }
        if attempted.isEmpty { print("Nothing has been attempted yet: promise-lab exercises") }
        var failed = false
        for exercise in attempted {
            let command = GradeCommand(exercise: exercise, workbook: workbook, limits: limits)
            let grade = command.grade()
            print(command.title(of: grade))
            if !grade.isPassed { failed = true }
        }
        if failed { exit(1) }
    }

    // MARK: In words

    func text(of grade: Grade) -> String {
        var lines = [title(of: grade), GradeCommand.shortened(answer), ""]
        lines += grade.met.compactMap { met in
            exercise.requirement(met.id).map { requirement in
                let name = GradeCommand.heading(requirement)
                return Terminal.spread([Span("✓ ", .success), Span(name)], Span(extent(of: met)))
            }
        }
        switch grade.result {
        case .notAttempted:
            let command = "promise-lab exercise \(exercise.number)"
            lines += [
                FileManager.default.fileExists(atPath: answer.path)
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
            lines += self.lines(of: failure, grade.unmet.flatMap(exercise.requirement))
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

    private func title(of grade: Grade) -> String {
        Terminal.spread(
            [Span("Exercise \(exercise.number) · \(exercise.title)\(grade.nameOfVariant)", .title)],
            GradeCommand.verdict(of: grade))
    }

    static func verdict(of grade: Grade) -> Span {
        switch grade.result {
        case .passed: Span("solved", .success)
        // It is not known whether it is solved: it behaves differently from run to run.
        case .failed(let failure) where failure.reason == Failure.notDeterministic:
            Span(failure.reason, .failure)
        case .failed: Span("not solved", .failure)
        default: Span(String(grade.cell.prefix { $0 != ":" }))
        }
    }

    private func extent(of met: Grade.Met) -> String {
        let programs = met.programs.map { $0 == 1 ? "1 program" : "\($0.grouped) programs" }
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

    private func lines(of failure: Failure, _ requirement: Requirement?) -> [String] {
        let count = failure.failing.flatMap { failing in
            failure.explored.map {
                $0 == 1
                    ? ", in the one interleaving"
                    : ", in \(failing.grouped) of \($0.grouped) interleavings"
            }
        }
        let name = requirement.map(GradeCommand.heading) ?? "it was ended"
        var lines = [
            Terminal.spread(
                [Span("✗ ", .failure), Span(name)], Span(failure.reason + (count ?? "")))
        ]
        if let requirement { lines.append(Terminal.wrapped(requirement.story, margin: 2)) }
        if let table = failure.table { lines += ["", Terminal.text(table)] }
        lines += ["", Terminal.wrapped("✗ \(failure.detail)", .failure)]
        if let schedule = failure.schedule, let requirement {
            let command = "again: \(words)"
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

    /// The command that grades this answer.
    private var words: String {
        let own = Workbook.own.file(exercise).resolvingSymlinksInPath().path
        let file =
            answer.resolvingSymlinksInPath().path == own
            ? "" : " --file \(GradeCommand.shortened(answer).quotedForShell)"
        return "promise-lab grade \(exercise.number)\(file)"
    }

    static func shortened(_ file: URL) -> String {
        for folder in [FileManager.default.currentDirectoryPath, Workbook.package.path]
        where file.path.hasPrefix(folder + "/") {
            return String(file.path.dropFirst(folder.count + 1))
        }
        return file.path
    }
}
