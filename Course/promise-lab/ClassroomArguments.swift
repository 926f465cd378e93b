import Foundation
import Graders

/// The arguments of the commands for the classroom.
extension PromiseLab {
    static func exerciseCommand(_ arguments: inout Arguments) throws {
        try arguments.atMostOne(of: "--start", "--hint", "--reset", "--variant")
        let workbook = try workbook(&arguments)
        let isHint = arguments.flag("--hint")
        let isStart = arguments.flag("--start")
        let isReset = arguments.flag("--reset")
        let variant = arguments.has("--variant") ? try arguments.number("--variant", or: 1) : nil
        // The remaining number is the exercise; it may stand at any position.
        let exercise = try exercise(&arguments)
        try arguments.end()
        if isStart {
            try ExerciseCommand.start(exercise, workbook)
        } else if isReset || variant != nil {
            try ExerciseCommand.reset(exercise, workbook, variant: variant ?? 1)
        } else if isHint {
            ExerciseCommand.hint(exercise, workbook)
        } else {
            ExerciseCommand.task(exercise, workbook)
        }
    }

    static func grade(_ arguments: inout Arguments) throws {
        for other in ["--workbook", "--file", "--replay", "--schedule", "--format"] {
            try arguments.atMostOne(of: "--submissions", other)
        }
        if arguments.has("--submissions") { return try gradeClass(&arguments) }
        try arguments.check(
            "--output", "--reports", "--afresh", need: "--submissions")
        try arguments.check("--schedule", need: "--replay")
        try arguments.atMostOne(of: "--workbook", "--file")
        try arguments.atMostOne(of: "--format", "--replay")
        let workbook = try workbook(&arguments)
        let limits = try limits(&arguments)
        let file = try arguments.optional("--file", for: "the file of an answer")
        let requirement = try arguments.optional("--replay", for: "an id, such as R01")
        let schedule = try requirement.map { _ in
            try arguments.option("--schedule", for: "a schedule, such as SRR")
        }
        let format = try arguments.optional("--format", for: "text or html")
        guard format == nil || format == "text" || format == "html" else {
            throw Mistake("there is no format '\(format ?? "")' here; there are text and html")
        }
        guard arguments.hasWord || file != nil || requirement != nil || format != nil else {
            try arguments.end()
            return try GradeCommand.runAll(workbook, limits)
        }
        let exercise = try exercise(&arguments)
        try arguments.end()
        if let file, !FileManager.default.isReadableFile(atPath: file) {
            throw Mistake("\(file) cannot be read")
        }
        let url = file.map { URL(filePath: $0) }
        if format == "html" { return try GradeCommand.page(exercise, workbook, url, limits) }
        guard let requirement, let schedule else {
            return try GradeCommand.run(exercise, workbook, url, limits)
        }
        try GradeCommand.replay(
            exercise, url ?? workbook.file(exercise), requirement, schedule, limits)
    }

    private static func limits(_ arguments: inout Arguments) throws -> Limits {
        var limits = Limits()
        limits.seconds = try arguments.number("--seconds", or: limits.seconds)
        limits.memory = try arguments.number("--megabytes", or: limits.memory >> 20) << 20
        return limits
    }

    /// The workbook that `--workbook` names; without it, the reader's own.
    static func workbook(_ arguments: inout Arguments) throws -> Workbook {
        guard let path = try arguments.optional("--workbook", for: "a folder of answers") else {
            return Workbook.own
        }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
            isFolder.boolValue
        else { throw Mistake("there is no folder '\(path)'") }
        return Workbook(URL(filePath: path))
    }

    private static func gradeClass(_ arguments: inout Arguments) throws {
        let folder = try arguments.option(
            "--submissions", for: "a folder, one sub-folder a student")
        let sheet = try arguments.option("--output", for: "a file, such as grades.csv")
        let reports = try arguments.optional("--reports", for: "a folder")
        let isAfresh = arguments.flag("--afresh")
        let limits = try limits(&arguments)
        try arguments.end()
        try SubmissionsCommand.run(
            SubmissionsCommand.Task(
                submissions: URL(filePath: folder), sheet: URL(filePath: sheet),
                reports: reports.map { URL(filePath: $0) }, isAfresh: isAfresh, limits: limits))
    }

    static func exercise(_ arguments: inout Arguments) throws -> Exercise {
        let word = try arguments.word("the number of an exercise, 1 to \(Exercise.all.count)")
        guard let exercise = Int(word).flatMap(Exercise.init(number:)) else {
            throw Mistake(
                "there is no exercise '\(word)'; there are 1 to \(Exercise.all.count) "
                    + "(see promise-lab exercises)")
        }
        return exercise
    }
}
