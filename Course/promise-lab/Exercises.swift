import Foundation
import Graders
import RaceLab

extension Command {
    static let exercises = Command(
        name: "exercises", summary: "your progress, and the next exercise",
        arguments: [.workbook],
        help: """
            Lists the exercises, each with its chapter of the Tutorial and your progress: untouched,
            in progress, or solved. The last line says what to do next. Your answers are the files
            in Exercises/Workbook, or in another folder that you name with --workbook.
            """
    ) { arguments in
        let workbook = try arguments.workbook()
        let ledger = Ledger(workbook)
        let roles: [Ledger.State: Span.Role] = [
            .untouched: .state, .inProgress: .title, .solved: .success,
        ]
        let width = min(40, Terminal.width - 45)
        for exercise in ExercisesCommand.exercises {
            let state = ledger.state(of: exercise)
            let isGraded = state != .inProgress || ledger.isGraded(exercise)
            print(
                "\(exercise.number)".leftPadded(to: 2)
                    + "  \(exercise.title.cut(to: width - 1).padded(to: width))"
                    + (exercise.chapter.map { "chapter \($0)" } ?? "appendix D").padded(to: 13)
                    + Terminal.painted(state.rawValue, roles[state]!)
                    + (isGraded ? "" : ", not graded yet"))
        }
        print("\n" + ExercisesCommand.nextStep(workbook))
    }

    private static let start = Argument(
        name: "--start", about: "writes its file into the workbook, unless the file exists")
    private static let hint = Argument(
        name: "--hint", about: "prints one more hint each time", excludes: [start.name])
    private static let reset = Argument(
        name: "--reset", about: "replaces the file by the stub",
        excludes: [start.name, hint.name])
    private static let variant = Argument(
        name: "--variant", value: "K",
        about: "the number of a stub with another bug (exercise 12)",
        excludes: [start.name, hint.name, reset.name])

    static let exercise = Command(
        name: "exercise", summary: "prints the task or, with --hint, a hint",
        arguments: [.exercise, start, hint, reset, variant, .workbook],
        help: """
            Prints the task of an exercise. An answer in a file that --reset or --variant replaces
            is kept in another place, which the command prints.
            """
    ) { arguments in
        let command = ExerciseCommand(
            exercise: try arguments.exercise(), workbook: try arguments.workbook())
        if arguments.has(start) {
            try command.start()
        } else if arguments.has(reset) || arguments.has(variant) {
            try command.reset(variant: try arguments.number(variant, or: 1))
        } else if arguments.has(hint) {
            command.hint()
        } else {
            command.task()
        }
    }

    static let watch = Command(
        name: "watch", summary: "grades each answer when you save it", arguments: [.workbook],
        help: """
            Grades each answer of the workbook whenever you save it, until you press Ctrl-C.
            """
    ) { arguments in
        let workbook = try arguments.workbook()
        Interruption.cleanUpWhenItComes()
        func date(of exercise: Exercise) -> Date? {
            let file = workbook.file(exercise).path
            let attributes = try? FileManager.default.attributesOfItem(atPath: file)
            return attributes?[.modificationDate] as? Date
        }
        var seen = Exercise.all.map(date)
        let folder = GradeCommand.shortened(workbook.folder)
        print(
            Terminal.wrapped(
                "Watching \(folder): save an answer, and it is graded. Ctrl-C ends this."))
        while true {
            fflush(nil)
            Thread.sleep(forTimeInterval: 0.25)
            for (index, exercise) in Exercise.all.enumerated() {
                let now = date(of: exercise)
                if now == seen[index] { continue }
                seen[index] = now
                // A file may be missing for a moment: some editors delete it and write it again.
                if now == nil { continue }
                if workbook.isUntouched(exercise) {
                    print("\n\(exercise.name).swift is the stub: there is nothing to grade.")
                    continue
                }
                let command = GradeCommand(exercise: exercise, workbook: workbook)
                let grade = command.grade()
                print("\n" + command.text(of: grade), terminator: "")
                if grade.isPassed { print(ExercisesCommand.nextStep(workbook)) }
            }
        }
    }
}

/// The reader's progress.
enum ExercisesCommand {
    /// In the order of the Tutorial, in which exercise 1 is not the first.
    fileprivate static let exercises = Exercise.all.sorted {
        ($0.chapter ?? .max, $0.number) < ($1.chapter ?? .max, $1.number)
    }

    static func nextStep(_ workbook: Workbook) -> String {
        let ledger = Ledger(workbook)
        let command = "Next: swift run promise-lab"
        if let begun = exercises.first(where: { ledger.state(of: $0) == .inProgress }) {
            return Terminal.wrapped("\(command) grade \(begun.number)")
        }
        guard let next = exercises.first(where: { ledger.state(of: $0) == .untouched }) else {
            return Terminal.wrapped("All of them are solved.")
        }
        let file = GradeCommand.shortened(workbook.file(next))
        return Terminal.wrapped("\(command) exercise \(next.number) --start, and edit \(file)")
    }
}

/// One task, its hints, and its stub.
struct ExerciseCommand {
    let exercise: Exercise
    let workbook: Workbook

    private var file: URL { workbook.file(exercise) }
    private var name: String { GradeCommand.shortened(file) }
    private var isThere: Bool { FileManager.default.fileExists(atPath: file.path) }

    func task() {
        print(Terminal.fitted(exercise.task))
        print("\nFile: \(name)")
        if !isThere { print("Write it: promise-lab exercise \(exercise.number) --start") }
        print("Hints: promise-lab exercise \(exercise.number) --hint")
    }

    /// Puts the stub into the workbook, unless the file exists.
    func start() throws {
        if isThere { return print("\(name) exists already: --reset replaces it by the stub.") }
        try FileManager.default.createDirectory(
            at: workbook.folder, withIntermediateDirectories: true)
        try write(variant: 1)
        print("\(name) is written. The task is at the top of the file.")
    }

    private func write(variant: Int) throws {
        try exercise.stub(variant: variant).write(to: file, atomically: true, encoding: .utf8)
    }

    /// Prints the next hint.
    func hint() {
        var ledger = Ledger(workbook)
        let hints = exercise.hints
        let shown = min(ledger[exercise].hints + 1, hints.count)
        for (index, hint) in hints.prefix(shown).enumerated() {
            let role: Span.Role = index == shown - 1 ? .plain : .state
            print(Terminal.wrapped("\(index + 1) of \(hints.count): \(hint)", role))
        }
        if ledger[exercise].hints >= hints.count { print("There are no more hints.") }
        ledger[exercise].hints = shown
        ledger.save()
    }

    /// Replaces the file in the workbook by the stub, or by another variant. The old file is kept.
    func reset(variant: Int) throws {
        guard (1...exercise.variants).contains(variant) else {
            throw Mistake(
                exercise.variants == 1
                    ? "exercise \(exercise.number) has no variants"
                    : "there is no variant \(variant); there are 1 to \(exercise.variants)")
        }
        let again = isThere ? " again" : ""
        let kept = workbook.isUntouched(exercise) ? nil : try keep()
        try write(variant: variant)
        let which = exercise.variants == 1 ? "" : ", variant \(variant) of \(exercise.variants)"
        print("\(name) is the stub\(again)\(which).")
        if let kept { print("Your answer is kept in \(GradeCommand.shortened(kept))") }
        print("The task: promise-lab exercise \(exercise.number)")
    }

    /// Copies an old answer out of the folders that the compiler reads.
    private func keep() throws -> URL {
        let folder = Workbook.package.appending(path: ".build/exercises")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let copies = (1...).lazy.map { folder.appending(path: "\(exercise.name)-\($0).swift") }
        let copy = copies.first { !FileManager.default.fileExists(atPath: $0.path) }!
        try FileManager.default.copyItem(at: file, to: copy)
        return copy
    }
}
