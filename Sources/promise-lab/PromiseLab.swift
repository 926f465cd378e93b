import Foundation
import Graders
import RaceLab
import SharedSuite

@main
enum PromiseLab {
    static func main() {
        if let executable = Bundle.main.executableURL {
            Trial.command = (
                executable,
                { part, subject in
                    ["trial", part] + subject.option.split(separator: " ").map(String.init)
                }
            )
        }
        // Reading the output of this command with `head` is no reason to complain.
        signal(SIGPIPE, SIG_DFL)
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch let mistake as Mistake {
            Terminal.complain("promise-lab: \(mistake.description)")
            exit(2)
        } catch {
            Terminal.complain("promise-lab: \(error)")
            exit(1)
        }
    }

    private static func run(_ words: [String]) throws {
        let name = words.first { !$0.hasPrefix("-") }
        if words.contains("--help") || words.contains("-h") || name == "help" {
            let subject = words.first { !$0.hasPrefix("-") && $0 != "help" }
            return print(try Help.text(about: subject), terminator: "")
        }
        guard let name, !["--designs", "--only"].contains(where: words[0].hasPrefix) else {
            var arguments = Arguments(words)
            try arguments.check(against: Help.options(of: "matrix") ?? [], of: "matrix")
            return try matrix(&arguments)
        }
        var arguments = Arguments(Array(words.drop { $0 != name }.dropFirst()))
        guard words.first == name else {
            throw Mistake(
                "options go behind the command: promise-lab "
                    + "\(Help.options(of: name) == nil ? "COMMAND" : name) … \(words[0])")
        }
        if let options = Help.options(of: name) { try arguments.check(against: options, of: name) }
        switch name {
        case "matrix":
            try matrix(&arguments)
        case "list":
            try arguments.end()
            ListCommand.run()
        case "show":
            let (hazard, subject) = try hazardAndSubject(&arguments)
            let everyOrder = arguments.flag("--every")
            let format = try format(&arguments)
            try arguments.end()
            try ShowCommand.run(hazard, on: subject, everyOrder: everyOrder, format)
        case "replay":
            let (hazard, subject) = try hazardAndSubject(&arguments)
            let schedule = try arguments.option("--schedule", for: "a schedule, such as SRRRS")
            let format = try format(&arguments)
            try arguments.end()
            try ReplayCommand.run(hazard, on: subject, schedule, format)
        case "compare":
            let subjects = [try namedSubject(&arguments), try namedSubject(&arguments)]
            let hazard = try hazard(&arguments)
            try arguments.end()
            try CompareCommand.run(hazard, on: subjects)
        case "bench":
            let what = try arguments.word("what to measure: lab")
            try arguments.end()
            guard what == "lab" else { throw Mistake("'\(what)' cannot be measured; lab can") }
            try BenchCommand.run()
        case "aplus":
            try arguments.end()
            APlusCommand.run()
        case "tour":
            try arguments.end()
            try TourCommand.run()
        case "mutants":
            try arguments.end()
            try MutantsCommand.run()
        case "demo":
            let name = try arguments.word("what to demonstrate: http")
            try arguments.end()
            try DemoCommand.run(name)
        case "exercises":
            let workbook = try workbook(&arguments)
            try arguments.end()
            ExercisesCommand.run(workbook)
        case "exercise":
            try exerciseCommand(&arguments)
        case "grade":
            try grade(&arguments)
        case "watch":
            let workbook = try workbook(&arguments)
            try arguments.end()
            WatchCommand.run(workbook)
        case "try-answer":
            let exercise = try exercise(&arguments)
            try TryAnswerCommand.run(&arguments, exercise)
        case "trial":
            let subject = try subject(&arguments)
            let part = try arguments.word("what to try: \(Trial.parts.joined(separator: ", "))")
            try arguments.end()
            _ = Trial.runInThisProcess(part, on: subject)
            throw Mistake(
                "there is no trial '\(part)'; there are \(Trial.parts.joined(separator: ", "))")
        default:
            throw Mistake(
                "there is no command '\(name)'; there are matrix, show, replay, compare, list, "
                    + "exercises, exercise, grade, watch, aplus, demo, tour, bench and mutants "
                    + "(see promise-lab --help)")
        }
    }

    private static func matrix(_ arguments: inout Arguments) throws {
        let subjects = arguments.flag("--designs") ? Matrix.designs : Matrix.stages
        let ids = try arguments.optional("--only", for: "ids of hazards, such as R01,R05")
        try arguments.end()
        guard let ids else { return try Matrix.command(subjects) }
        let wanted = try ids.split(separator: ",").map { try hazard(String($0)).id }
        guard !wanted.isEmpty else { throw Mistake("--only wants ids of hazards, such as R01,R05") }
        try Matrix.command(subjects, Catalogue.all.filter { wanted.contains($0.id) })
    }

    private static func hazardAndSubject(
        _ arguments: inout Arguments
    ) throws -> (any Hazard, Subject) {
        // Who has typed neither the one nor the other learns of the first first.
        if !arguments.hasWord { _ = try hazard(&arguments) }
        let subject = try subject(&arguments)
        return (try hazard(&arguments), subject)
    }

    private static func hazard(_ arguments: inout Arguments) throws -> any Hazard {
        try hazard(try arguments.word("the id of a hazard, such as R01"))
    }

    private static func hazard(_ id: String) throws -> any Hazard {
        guard let hazard = Catalogue.hazard(id) else {
            throw Mistake(
                "there is no hazard '\(id)'; promise-lab list shows all of them, from "
                    + "\(Catalogue.all[0].id) to \(Catalogue.all.last!.id)")
        }
        return hazard
    }

    /// A stage or, with another option, a design.
    private static func subject(_ arguments: inout Arguments) throws -> Subject {
        try arguments.atMostOne(of: "--stage", "--design")
        guard arguments.has("--design") else { return .stage(try stage(&arguments)) }
        let designs = Design.allCases.map(\.rawValue).joined(separator: ", ")
        let word = try arguments.option("--design", for: "a design: \(designs)")
        guard let design = Design(rawValue: word) else {
            throw Mistake("there is no design '\(word)'; there are \(designs)")
        }
        return .design(design)
    }

    /// By the name of its class or module.
    private static func namedSubject(_ arguments: inout Arguments) throws -> Subject {
        let names = (Subject.designs + Subject.stages).map(\.name).joined(separator: ", ")
        let word = try arguments.word("what to compare: \(names)")
        guard let subject = Subject(named: word) else {
            throw Mistake("there is no '\(word)' to compare; there are \(names)")
        }
        return subject
    }

    private static func format(_ arguments: inout Arguments) throws -> Format {
        guard let word = try arguments.optional("--format", for: "text, markdown or json") else {
            return .text
        }
        guard let format = Format(rawValue: word) else {
            throw Mistake("there is no format '\(word)'; there are text, markdown and json")
        }
        return format
    }

    private static func stage(_ arguments: inout Arguments) throws -> Stage {
        let word = try arguments.option("--stage", for: "a stage: 1, 2 or 3")
        guard let number = Int(word), let stage = Stage(rawValue: number) else {
            throw Mistake("there is no stage '\(word)'; there are 1, 2 and 3")
        }
        return stage
    }
}
