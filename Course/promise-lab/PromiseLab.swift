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
            Terminal.complain("promise-lab: \(words(of: error))")
            exit(1)
        }
    }

    /// The message for an error. Those of Foundation describe themselves by domain and number.
    private static func words(of error: any Error) -> String {
        let foundation = error as NSError
        guard foundation.domain == NSCocoaErrorDomain else { return "\(error)" }
        let path = foundation.userInfo[NSFilePathErrorKey] as? String ?? "a file"
        // The codes of errors that occur when a file is read.
        let reading = 256...263
        let done = reading.contains(foundation.code) ? "read" : "written"
        let cause = foundation.userInfo[NSUnderlyingErrorKey] as? NSError
        let why = cause.flatMap { $0.domain == NSPOSIXErrorDomain ? $0.code : nil }
            .map { ": \(String(cString: strerror(Int32($0))))" }
        return "\(path) cannot be \(done)\(why ?? "")"
    }

    private static func run(_ words: [String]) throws {
        let name = words.first { !$0.hasPrefix("-") }
        if words.contains("--help") || words.contains("-h") || name == "help" {
            let subject = words.first { !$0.hasPrefix("-") && $0 != "help" }
            return print(try Help.text(about: subject), terminator: "")
        }
        // The options of the matrix may stand alone.
        let option = words.first.map { word in String(word.prefix { $0 != "=" }) } ?? ""
        guard let name, !Command.matrix.arguments.contains(where: { $0.name == option }) else {
            return try start(.matrix, words)
        }
        let command = Command.all.first { $0.name == name }
        guard words[0] == name else {
            throw Mistake(
                "options follow the command: promise-lab \(command?.name ?? "COMMAND") … "
                    + words[0])
        }
        guard let command else {
            let names = Command.all.filter { !$0.isInternal }.map(\.name)
            throw Mistake(
                "unknown command '\(name)'; there are \(names.joined(separator: ", ", last: " and ")) "
                    + "(see promise-lab --help)")
        }
        try start(command, Array(words.dropFirst()))
    }

    private static func start(_ command: Command, _ words: [String]) throws {
        try command.run(Arguments(words, of: command))
    }
}

extension Command {
    /// Every command, in the order of the overview.
    static let all = [
        matrix, show, replay, compare, page, exercises, exercise, grade, watch, tour, list, aplus,
        mutants, bench, demo, doctor, tryAnswer, runPart,
    ]

    private static let part = Argument.word(
        "PART", "what happens to a long chain", choices: LongChain.allCases.map(\.rawValue))

    private static let runPart = Command("run-part", "", [part] + Argument.subject) { arguments in
        _ = ChildRun.runInThisProcess(try arguments.required(part), on: arguments.subject)
    }
}
