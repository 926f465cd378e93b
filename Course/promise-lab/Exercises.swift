import Foundation
import Graders
import RaceLab

extension Command {
    static let exercises = Command(
        "exercises", "your progress, and the next exercise", [.workbook],
        help: """
            Lists the exercises, each with its chapter of the Tutorial and your progress: untouched,
            in progress, or solved. The last line says what to do next. Your answers are the files
            in Exercises/Workbook, or in another folder that you name with --workbook.
            """
    ) { arguments in ExercisesCommand.run(try arguments.workbook()) }

    private static let start = Argument.flag(
        "--start", "writes its file into the workbook, unless the file exists")
    private static let hint = Argument.flag(
        "--hint", "prints one more hint each time", excludes: [start.name])
    private static let reset = Argument.flag(
        "--reset", "replaces the file by the stub", excludes: [start.name, hint.name])
    private static let variant = Argument.option(
        "--variant", "K", "the number of a stub with another bug (exercise 12)",
        excludes: [start.name, hint.name, reset.name])

    static let exercise = Command(
        "exercise", "prints the task or, with --hint, a hint",
        [.exercise, start, hint, reset, variant, .workbook],
        help: """
            Prints the task of an exercise. An answer in a file that --reset or --variant replaces
            is kept in another place, which the command prints.
            """
    ) { arguments in
        let (exercise, workbook) = (try arguments.exercise(), try arguments.workbook())
        if arguments.has(start) {
            try ExerciseCommand.start(exercise, workbook)
        } else if arguments.has(reset) || arguments.has(variant) {
            let variant = try arguments.number(variant, or: 1)
            try ExerciseCommand.reset(exercise, workbook, variant: variant)
        } else if arguments.has(hint) {
            ExerciseCommand.hint(exercise, workbook)
        } else {
            ExerciseCommand.task(exercise, workbook)
        }
    }

    static let watch = Command(
        "watch", "grades each answer when you save it", [.workbook],
        help: """
            Grades each answer of the workbook whenever you save it, until you press Ctrl-C.
            """
    ) { arguments in WatchCommand.run(try arguments.workbook()) }
}

/// Lists the exercises and the reader's progress.
enum ExercisesCommand {
    /// In the order of the Tutorial, in which exercise 1 is not the first.
    private static let exercises = Exercise.all.sorted {
        ($0.chapter ?? .max, $0.number) < ($1.chapter ?? .max, $1.number)
    }

    static func run(_ workbook: Workbook) {
        let ledger = Ledger(workbook)
        for exercise in exercises {
            let state = ledger.state(of: exercise)
            let title = min(40, Terminal.width - 45)
            print(
                "\(exercise.number)".leftPadded(to: 2)
                    + "  \(exercise.title.cut(to: title - 1).padded(to: title))"
                    + (exercise.chapter.map { "chapter \($0)" } ?? "appendix D").padded(to: 13)
                    + painted(state)
                    + (state == .inProgress && !ledger.isGraded(exercise)
                        ? ", not graded yet" : ""))
        }
        print("")
        print(Terminal.wrapped(nextStep(ledger, workbook)))
    }

    private static func painted(_ state: Ledger.State) -> String {
        switch state {
        case .untouched: Terminal.painted(state.rawValue, .state)
        case .inProgress: Terminal.painted(state.rawValue, .title)
        case .solved: Terminal.painted(state.rawValue, .success)
        }
    }

    static func nextStep(_ ledger: Ledger, _ workbook: Workbook) -> String {
        let begun = exercises.first { ledger.state(of: $0) == .inProgress }
        if let begun { return "Next: swift run promise-lab grade \(begun.number)" }
        let untouched = exercises.first { ledger.state(of: $0) == .untouched }
        guard let untouched else { return "All of them are solved." }
        return "Next: swift run promise-lab exercise \(untouched.number) --start, and edit "
            + GradeCommand.shortened(workbook.file(untouched))
    }
}

/// One task, its hints, and its stub.
enum ExerciseCommand {
    static func task(_ exercise: Exercise, _ workbook: Workbook) {
        print(Terminal.fitted(exercise.task))
        let file = GradeCommand.shortened(workbook.file(exercise))
        let isThere = FileManager.default.fileExists(atPath: workbook.file(exercise).path)
        print("\nFile: \(file)")
        if !isThere { print("Write it: promise-lab exercise \(exercise.number) --start") }
        print("Hints: promise-lab exercise \(exercise.number) --hint")
    }

    /// Puts the stub into the workbook, unless the file exists.
    static func start(_ exercise: Exercise, _ workbook: Workbook) throws {
        let file = workbook.file(exercise)
        let name = GradeCommand.shortened(file)
        if FileManager.default.fileExists(atPath: file.path) {
            print("\(name) exists already: --reset replaces it by the stub.")
            return
        }
        try FileManager.default.createDirectory(
            at: workbook.folder, withIntermediateDirectories: true)
        try exercise.stub(variant: 1).write(to: file, atomically: true, encoding: .utf8)
        print("\(name) is written. The task is at the top of the file.")
    }

    /// Prints the next hint.
    static func hint(_ exercise: Exercise, _ workbook: Workbook) {
        var ledger = Ledger(workbook)
        let shown = min(ledger[exercise].hints + 1, exercise.hints.count)
        for (index, hint) in exercise.hints.prefix(shown).enumerated() {
            let isNew = index == shown - 1
            let text = "\(index + 1) of \(exercise.hints.count): \(hint)"
            print(Terminal.wrapped(text, isNew ? .plain : .state))
        }
        if ledger[exercise].hints >= exercise.hints.count { print("There are no more hints.") }
        ledger[exercise].hints = shown
        ledger.save()
    }

    /// Replaces the file in the workbook by the stub, or by another variant. The old file is kept.
    static func reset(_ exercise: Exercise, _ workbook: Workbook, variant: Int) throws {
        guard (1...exercise.variants).contains(variant) else {
            throw Mistake(
                exercise.variants == 1
                    ? "exercise \(exercise.number) has no variants"
                    : "there is no variant \(variant); there are 1 to \(exercise.variants)")
        }
        let file = workbook.file(exercise)
        let isThere = FileManager.default.fileExists(atPath: file.path)
        var kept: URL?
        if !workbook.isUntouched(exercise) {
            kept = try keep(file)
        }
        try exercise.stub(variant: variant).write(to: file, atomically: true, encoding: .utf8)
        let which = exercise.variants == 1 ? "" : ", variant \(variant) of \(exercise.variants)"
        print("\(GradeCommand.shortened(file)) is the stub\(isThere ? " again" : "")\(which).")
        if let kept { print("Your answer is kept in \(GradeCommand.shortened(kept))") }
        print("The task: promise-lab exercise \(exercise.number)")
    }

    /// The place for an old answer, outside the folders that the compiler reads.
    private static func keep(_ file: URL) throws -> URL {
        let folder = Workbook.package.appending(path: ".build/exercises")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for number in 1... {
            let name = "\(file.deletingPathExtension().lastPathComponent)-\(number).swift"
            let copy = folder.appending(path: name)
            if FileManager.default.fileExists(atPath: copy.path) { continue }
            try FileManager.default.copyItem(at: file, to: copy)
            return copy
        }
        return file
    }
}

/// Grades each answer of the workbook when it is saved, until the command is interrupted.
enum WatchCommand {
    static func run(_ workbook: Workbook) {
        Interruption.cleanUpWhenItComes()
        var seen = dates(workbook)
        let folder = GradeCommand.shortened(workbook.folder)
        print(
            Terminal.wrapped(
                "Watching \(folder): save an answer, and it is graded. Ctrl-C ends this."))
        fflush(nil)
        while true {
            Thread.sleep(forTimeInterval: 0.25)
            let now = dates(workbook)
            for exercise in Exercise.all where now[exercise.number] != seen[exercise.number] {
                let file = workbook.file(exercise)
                // A file may be missing for a moment: some editors delete it and write it again.
                if now[exercise.number] == nil { continue }
                if workbook.isUntouched(exercise) {
                    print("\n\(file.lastPathComponent) is the stub: there is nothing to grade.")
                    fflush(nil)
                    continue
                }
                let grade = GradeCommand.grade(exercise, workbook)
                print("\n" + GradeCommand.text(of: grade, exercise, file), terminator: "")
                if grade.isPassed {
                    print(Terminal.wrapped(ExercisesCommand.nextStep(Ledger(workbook), workbook)))
                }
                fflush(nil)
            }
            seen = now
        }
    }

    private static func dates(_ workbook: Workbook) -> [Int: Date] {
        Dictionary(
            uniqueKeysWithValues: Exercise.all.compactMap { exercise in
                let path = workbook.file(exercise).path
                let attributes = try? FileManager.default.attributesOfItem(atPath: path)
                return (attributes?[.modificationDate] as? Date).map { (exercise.number, $0) }
            })
    }
}
