import Foundation
import Graders
import RaceLab
import SharedSuite

@main
enum PromiseLab {
    static func main() {
        ChildRun.program = Bundle.main.executableURL
        // Piping the output to `head` is not an error.
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
        let ofMatrix = ["--designs", "--only", "--steps"]
        guard let name, !ofMatrix.contains(where: words[0].hasPrefix) else {
            var arguments = Arguments(words)
            try arguments.check(against: Help.options(of: "matrix") ?? [], of: "matrix")
            return try matrix(&arguments)
        }
        var arguments = Arguments(Array(words.drop { $0 != name }.dropFirst()))
        guard words.first == name else {
            throw Mistake(
                "options follow the command: promise-lab "
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
        case "page":
            let output = try arguments.optional("--output", for: "the name of a file")
            let hazards = try only(&arguments)
            try arguments.end()
            try PageCommand.run(output: output ?? "page.html", hazards)
        case "compare":
            let subjects = [try comparedSubject(&arguments), try comparedSubject(&arguments)]
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
        case "run-part":
            let subject = try subject(&arguments)
            let parts = LongChain.allCases.map(\.rawValue).joined(separator: ", ")
            let part = try arguments.word("what happens to a long chain: \(parts)")
            try arguments.end()
            _ = ChildRun.runInThisProcess(part, on: subject)
            throw Mistake("there is no part '\(part)'; there are \(parts)")
        default:
            throw Mistake(
                "unknown command '\(name)'; there are matrix, show, replay, compare, page, "
                    + "list, exercises, exercise, grade, watch, aplus, demo, tour, bench and mutants "
                    + "(see promise-lab --help)")
        }
    }

    private static func matrix(_ arguments: inout Arguments) throws {
        try arguments.atMostOne(of: ["--designs", "--steps"])
        let subjects =
            arguments.flag("--designs")
            ? Matrix.designs : arguments.flag("--steps") ? Matrix.steps : Matrix.stages
        let hazards = try only(&arguments)
        try arguments.end()
        try Matrix.command(subjects, hazards)
    }

    /// The hazards that `--only` names; without it, all.
    private static func only(_ arguments: inout Arguments) throws -> [any Hazard] {
        let option = try arguments.optional("--only", for: "ids of hazards, such as R01,R05")
        guard let ids = option else { return Catalogue.all }
        let wanted = try ids.split(separator: ",").map { try hazard(String($0)).id }
        guard !wanted.isEmpty else { throw Mistake("--only takes ids of hazards, such as R01,R05") }
        return Catalogue.all.filter { wanted.contains($0.id) }
    }

    private static func hazardAndSubject(
        _ arguments: inout Arguments
    ) throws -> (any Hazard, Subject) {
        // If both are missing, the hazard is reported first.
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

    /// A stage or, with another option, a subject of another kind.
    private static func subject(_ arguments: inout Arguments) throws -> Subject {
        try arguments.atMostOne(of: Subject.Kind.allCases.map(\.option))
        let kind = Subject.Kind.allCases.first { arguments.has($0.option) } ?? .stage
        return try subject(kind, &arguments)
    }

    private static func subject(
        _ kind: Subject.Kind, _ arguments: inout Arguments
    ) throws -> Subject {
        let words = Subject.all(kind).map(\.word)
        let wanted = "a \(kind): \(words.joined(separator: ", ", last: " or "))"
        let word = try arguments.option(kind.option, for: wanted)
        guard let subject = Subject(kind, word) else {
            let list = words.joined(separator: ", ", last: " and ")
            throw Mistake("there is no \(kind) '\(word)'; there are \(list)")
        }
        return subject
    }

    /// The next subject to compare: by an option, or by the name of its class or module.
    private static func comparedSubject(_ arguments: inout Arguments) throws -> Subject {
        if let option = arguments.first(of: Subject.Kind.allCases.map(\.option)),
            let kind = Subject.Kind.allCases.first(where: { $0.option == option })
        {
            return try subject(kind, &arguments)
        }
        let names = Subject.all.map(\.name).joined(separator: ", ")
        let word = try arguments.word("what to compare: \(names)")
        guard let subject = Subject(named: word) else {
            throw Mistake("there is no '\(word)' to compare; there are \(names)")
        }
        return subject
    }

    private static func format(_ arguments: inout Arguments) throws -> Format {
        guard let word = try arguments.optional("--format", for: "text, markdown, json or html")
        else {
            return .text
        }
        guard let format = Format(rawValue: word) else {
            throw Mistake("there is no format '\(word)'; there are text, markdown, json and html")
        }
        return format
    }
}
