import HTTPExample

/// Runs a demonstration.
enum DemoCommand {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func run(_ name: String) throws {
        guard name == "http" else {
            throw Mistake("there is no demo '\(name)'; there is http")
        }
        print(
            Terminal.wrapped(
                "The article's own example: two HTTP requests, the second started by the first, "
                    + "and one `error` at the end. The server listens on the loopback interface."))
        for stage in Episode.Stage.allCases {
            let manner = stage == .handlers ? "everything on one queue" : "on any thread"
            print("\n" + Terminal.painted("\(stage.rawValue), \(manner)", .bold))
            for example in Episode.Case.allCases { try show(example, on: stage) }
        }
    }

    private static func show(_ example: Episode.Case, on stage: Episode.Stage) throws {
        guard let episode = try Episode.run(example, on: stage, patience: 1) else {
            throw Failure(description: "'\(example.rawValue)' did not finish within a minute")
        }
        print("\n    \(example.rawValue)")
        for (index, event) in episode.events.enumerated() {
            print(
                "\(index + 1)".leftPadded(to: 6) + "  "
                    + event.source.rawValue.padded(to: 10) + event.text)
        }
    }
}

extension String {
    fileprivate func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
