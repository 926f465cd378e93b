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
        } catch  where error is Mistake || error is Submissions.Unreadable {
            Terminal.complain("\(error)")
            exit(2)
        } catch {
            Terminal.complain(words(of: error))
            exit(1)
        }
    }

    /// The message for an error. Those of Foundation describe themselves by domain and number.
    private static func words(of error: any Error) -> String {
        guard let error = error as? CocoaError else { return "\(error)" }
        // The codes of errors that occur when a file is read.
        let done = 256...263 ~= error.code.rawValue ? "read" : "written"
        let cause = error.underlying as NSError?
        let why = cause.flatMap { $0.domain == NSPOSIXErrorDomain ? $0.code : nil }
            .map { ": \(String(cString: strerror(Int32($0))))" }
        return "\(error.filePath ?? "a file") cannot be \(done)\(why ?? "")"
    }

    static func run(_ words: [String]) throws {
        let name = words.first { !$0.hasPrefix("-") }
        if words.contains("--help") || words.contains("-h") || name == "help" {
            let subject = words.first { !$0.hasPrefix("-") && $0 != "help" }
            return print(try Help.text(about: subject), terminator: "")
        }
        // The options of the matrix may stand alone.
        let option = (words.first ?? "").prefix { $0 != "=" }
        guard let name, !Command.matrix.arguments.contains(where: { $0.name == option }) else {
            return try Command.matrix.run(Arguments(words, of: .matrix))
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
        try command.run(Arguments(Array(words.dropFirst()), of: command))
    }
}

extension Command {
    /// Every command, in the order of the overview.
    static let all = [
        matrix, show, replay, compare, page, exercises, exercise, grade, watch, tour, list, aplus,
        mutants, bench, demo, doctor, tryAnswer, runPart,
    ]

    private static let part = Argument(
        name: "PART", about: "what happens to a long chain",
        choices: LongChain.allCases.map(\.rawValue), isRequired: true)

    private static let runPart = Command(
        name: "run-part", arguments: [part] + Argument.subject
    ) { arguments in
        _ = ChildRun.runInThisProcess(try arguments.required(part), on: arguments.subject)
    }
}
