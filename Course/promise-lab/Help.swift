import RaceLab

/// The help, made from the descriptions of the commands. It fits the width of the terminal.
enum Help {
    static func text(about name: String?) throws -> String {
        guard let name else { return overview }
        guard let command = Command.all.first(where: { $0.name == name && !$0.isInternal }) else {
            throw Mistake("unknown command '\(name)'; see promise-lab --help")
        }
        let start = name == Command.matrix.name ? "[\(name)]" : name
        let beginning = Terminal.hanging(
            "usage: promise-lab ",
            // A space inside of brackets is no place for a line break.
            ([start] + usage(of: command.arguments)).map {
                $0.columns < 40 ? $0.replacing(" ", with: "\u{A0}") : $0
            }
            .joined(separator: " ")
        ).replacing("\u{A0}", with: " ")
        let arguments = Terminal.list(
            command.arguments.map { argument in
                let needs = argument.needs.map { " (with \($0))" } ?? ""
                return (usage(of: argument), argument.takes + needs)
            })
        return ([beginning, Terminal.prose(command.help), arguments].filter { !$0.isEmpty })
            .joined(separator: "\n\n") + "\n"
    }

    /// The arguments as a usage line shows them. Alternatives are together.
    private static func usage(of arguments: [Argument]) -> [String] {
        var groups: [[Argument]] = []
        for argument in arguments {
            if let last = groups.last?.last, argument.excludes.contains(last.name) {
                groups[groups.count - 1].append(argument)
            } else {
                groups.append([argument])
            }
        }
        return groups.map { group in
            let text = group.map { usage(of: $0) }.joined(separator: " | ")
            if !group.contains(where: \.isRequired) { return "[\(text)]" }
            return group.count > 1 ? "(\(text))" : text
        }
    }

    private static func usage(of argument: Argument) -> String {
        if !argument.isOption, argument.choices.count == 1 { return argument.choices[0] }
        return argument.name + (argument.value.map { " \($0)" } ?? "")
    }

    private static var overview: String {
        let commands = Command.all.filter { !$0.isInternal }.map { command in
            let arguments = command.arguments.filter { !$0.isOption || $0.isRequired }
            let form = [command.name] + arguments.flatMap { usage(of: [$0]) }
            return (form.joined(separator: " "), command.summary)
        }
        let blocks = [
            Terminal.prose(
                """
                promise-lab shows which hazards and races each stage of AWPromise survives. It runs
                the unmodified sources, on one thread or under every interleaving of several.
                """),
            "usage: promise-lab [COMMAND …]",
            Terminal.list(commands + [("help COMMAND", "the help of one command")]),
            Terminal.prose(
                """
                Without a command, it runs matrix. Exit status: 2 if the command was mistyped, or does
                not apply; 1 if it could not finish; and for the commands that give verdicts:
                """),
            Terminal.list([
                ("matrix, aplus, tour", "0 if every verdict is as documented, 1 if one is not"),
                ("doctor", "0 if the lab observes everything, 1 if not"),
                ("mutants", "0 if every planted fault was noticed, 1 if one was not"),
                (
                    "grade, grade N",
                    "0 if every answer that was attempted passes, 1 if one does not. An unchanged "
                        + "stub counts as not attempted."
                ),
                (
                    "all others",
                    "0, whatever they show. This includes show, compare and replay of a failure, "
                        + "and grade with --replay or --submissions."
                ),
            ]),
            Terminal.prose("Color is used on a terminal, unless NO_COLOR is set."),
        ]
        return blocks.joined(separator: "\n\n") + "\n"
    }
}
