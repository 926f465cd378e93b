import RaceLab

extension Command {
    static let demo = Command(
        name: "demo", summary: "runs the article's own example",
        arguments: [Argument(name: "DEMO", choices: ["http"], isRequired: true)],
        help: """
            Runs the article's own example: two HTTP requests, the second started by the first, and
            one `error` at the end. The requests go to a server on the loopback interface, which the
            command starts itself. It prints the events in order, on Stage 2 (everything confined to
            one queue) and on Stage 3: with a working server, with a server that fails, without a
            server, and with a server that does not answer.
            """
    ) { _ in
        let title =
            "The article's own example: two HTTP requests, the second started by the first, and one "
            + "`error` at the end. The server listens on the loopback interface."
        print(Terminal.wrapped(title))
        for stage in Episode.Stage.allCases {
            let manner = stage == .handlers ? "everything on one queue" : "on any thread"
            print("\n" + Terminal.painted("\(stage.rawValue), \(manner)", .title))
            for example in Episode.Case.allCases {
                guard let episode = try Episode.run(example, on: stage, patience: 1) else {
                    throw Unfinished("'\(example.rawValue)' did not finish within a minute")
                }
                print("\n    \(example.rawValue)")
                for (index, event) in episode.events.enumerated() {
                    let number = "\(index + 1)".leftPadded(to: 6)
                    let source = event.source.rawValue.padded(to: 10)
                    print(Terminal.hanging("\(number)  \(source)", event.text))
                }
            }
        }
    }
}
