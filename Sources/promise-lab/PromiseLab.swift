import Foundation
import RaceLab
import SharedSuite

@main
enum PromiseLab {
    static func main() {
        if let executable = Bundle.main.executableURL {
            Trial.command = (
                executable, { part, stage in ["trial", part, "--stage", "\(stage.rawValue)"] }
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
        guard let name else {
            var arguments = Arguments(words)
            try arguments.end()
            return try Matrix.command()
        }
        var arguments = Arguments(Array(words.drop { $0 != name }.dropFirst()))
        guard words.first == name else {
            throw Mistake("options go behind the command: promise-lab \(name) … \(words[0])")
        }
        switch name {
        case "matrix":
            try arguments.end()
            try Matrix.command()
        case "list":
            try arguments.end()
            ListCommand.run()
        case "show":
            let (hazard, stage) = try hazardAndStage(&arguments)
            try arguments.end()
            try ShowCommand.run(hazard, on: stage)
        case "replay":
            let (hazard, stage) = try hazardAndStage(&arguments)
            let schedule = try arguments.option("--schedule", for: "a schedule, such as SRRRS")
            try arguments.end()
            try ReplayCommand.run(hazard, on: stage, schedule)
        case "tour":
            try arguments.end()
            try TourCommand.run()
        case "mutants":
            try arguments.end()
            try MutantsCommand.run()
        case "trial":
            let stage = try stage(&arguments)
            let part = try arguments.word("what to try: \(Trial.parts.joined(separator: ", "))")
            try arguments.end()
            _ = Trial.runInThisProcess(part, on: stage)
            throw Mistake(
                "there is no trial '\(part)'; there are \(Trial.parts.joined(separator: ", "))")
        default:
            throw Mistake(
                "there is no command '\(name)'; there are matrix, show, replay, list, "
                    + "tour and mutants (see promise-lab --help)")
        }
    }

    private static func hazardAndStage(
        _ arguments: inout Arguments
    ) throws -> (any Hazard, Stage) {
        let stage = try stage(&arguments)
        let id = try arguments.word("the id of a hazard, such as R01")
        guard let hazard = Catalogue.hazard(id) else {
            throw Mistake(
                "there is no hazard '\(id)'; promise-lab list shows all of them, from "
                    + "\(Catalogue.all[0].id) to \(Catalogue.all.last!.id)")
        }
        return (hazard, stage)
    }

    private static func stage(_ arguments: inout Arguments) throws -> Stage {
        let word = try arguments.option("--stage", for: "a stage: 1, 2 or 3")
        guard let number = Int(word), let stage = Stage(rawValue: number) else {
            throw Mistake("there is no stage '\(word)'; there are 1, 2 and 3")
        }
        return stage
    }
}

/// What the user has typed wrong, and what to type instead. Ends the command with status 2.
struct Mistake: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The words behind a command.
struct Arguments {
    private var words: [String]

    init(_ words: [String]) {
        self.words = words
    }

    /// Takes `--name value` or `--name=value`, wherever it stands.
    mutating func option(_ name: String, for what: String) throws -> String {
        if let index = words.firstIndex(where: { $0.hasPrefix("\(name)=") }) {
            return String(words.remove(at: index).dropFirst(name.count + 1))
        }
        guard let index = words.firstIndex(of: name) else {
            throw Mistake("\(name) is missing; it wants \(what)")
        }
        guard words.indices.contains(index + 1) else { throw Mistake("\(name) wants \(what)") }
        words.remove(at: index)
        return words.remove(at: index)
    }

    /// Takes the next word that is no option.
    mutating func word(_ what: String) throws -> String {
        guard let index = words.firstIndex(where: { !$0.hasPrefix("-") }) else {
            throw Mistake("a word is missing: \(what)")
        }
        return words.remove(at: index)
    }

    /// Nothing may be left.
    mutating func end() throws {
        guard let word = words.first else { return }
        throw Mistake(
            word.hasPrefix("-")
                ? "there is no option '\(word)' here (see promise-lab --help)"
                : "'\(word)' is one word too many (see promise-lab --help)")
    }
}
