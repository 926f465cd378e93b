import RaceLab
import SharedSuite

extension Command {
    static let list = Command(
        "list", "every hazard, in a few words",
        help: "Prints the id, the name and a description of every hazard."
    ) { _ in
        for hazard in Catalogue.all {
            print("\(hazard.id)  \(Terminal.painted(hazard.name, .title))")
            print(Terminal.wrapped(hazard.story, margin: 5))
        }
    }

    private static let every = Argument.flag(
        "--every",
        "explores every order. Without it, interleavings that differ only in the order of "
            + "independent steps are explored once: the verdict is the same, the counts are smaller."
    )
    private static let format = Argument.format(["text", "markdown", "json", "html"])
    private static let sample = Argument.option(
        "--sample", "N",
        "runs N executions that are drawn at random, instead of exploring every interleaving",
        excludes: ["--every"])
    private static let seed = Argument.option(
        "--seed", "S", "a number: the same one draws the same executions (1)", needs: "--sample")

    /// A page can have a file; other formats go to standard output.
    private static let pageFile = Argument.option(
        "--output", "FILE", "a file for the page (with --format html)")

    static let show = Command(
        "show", "one hazard on a stage, step by step",
        [.hazard] + Argument.subject + [every, sample, seed, format, pageFile],
        help: """
            Describes a hazard and shows what happens on a stage. For a race that fails, it shows an
            interleaving with the first finding and the fewest preemptions, as a table with a column
            for each thread and the state of the promise after each step. For a race that survives,
            it shows the number of interleavings explored, and one of them.

              promise-lab show R01 --stage 1

            With --format markdown and json it writes the table alone;
            Lab/RaceLab/RaceLab.docc/JSON.md describes the JSON. With --format html it writes a page
            for stepping through the race in a browser:

              promise-lab show R01 --stage 1 --format html --output r01.html

            With --sample it does not explore every interleaving, so it never says that a race
            survives. A space that is too large to explore is sampled in this way.

              promise-lab show R01 --stage 1 --sample 1000 --seed 7

            The exit status is 0, whether the race survives or fails.
            """
    ) { arguments in
        let format = arguments[format].flatMap(Format.init) ?? .text
        let hazard = try arguments.hazard()
        let choose = try interleavings(arguments, format)
        if arguments.has(pageFile), format != .html {
            throw Mistake("--output is useful only together with --format html")
        }
        try ShowCommand.run(
            hazard, on: arguments.subject, choose, format, output: arguments[pageFile])
    }

    /// How the options change what is explored; `nil` if they do not.
    private static func interleavings(
        _ arguments: Arguments, _ format: Format
    ) throws -> ((inout Exploration.Options) -> Void)? {
        if arguments.has(every) { return { $0.reduction = false } }
        guard arguments.has(sample) else { return nil }
        let runs = try arguments.number(sample, or: 1)
        let word = arguments[seed] ?? "1"
        guard let seed = UInt64(word) else {
            throw Mistake("--seed takes a whole number from 0 on, not '\(word)'")
        }
        if format == .html {
            throw Mistake("a page shows every interleaving: --sample and html do not fit together")
        }
        return { $0.strategy = .sampled(.selectivelyUniform, runs: runs, seed: seed) }
    }

    private static let schedule = Argument.option(
        "--schedule", "S", "a schedule, such as SRRRS", isRequired: true)

    static let replay = Command(
        "replay", "an interleaving of your choice",
        [.hazard] + Argument.subject + [schedule, format],
        help: """
            Runs a race under one interleaving. The schedule has a letter for each step: the first
            letter of the thread's name (or A, B, C if two names begin with the same letter).
            Threads that the code under test starts have letters from the end of the alphabet. A
            number after a letter repeats it: SR3S is SRRRS. A minus after a letter marks an attempt
            to take a lock that fails because it comes right before the release. The schedule must
            lead every thread to its end or into a deadlock, and no further. Every table ends with
            its schedule.

              promise-lab replay R01 --stage 1 --schedule SRRRSS

            A page for the same race is written by show. The exit status is 0, whether every check
            holds or not, and 2 if the schedule does not fit; then the step is named.
            """
    ) { arguments in
        try ReplayCommand.run(
            arguments.hazard(), on: arguments.subject, arguments.required(schedule),
            arguments[format].flatMap(Format.init) ?? .text)
    }
}

/// The format in which an interleaving is written.
enum Format: String {
    case text, markdown, json, html

    /// `nil` for text and a page, because both contain more than one trace.
    func written(_ trace: Exploration.Trace) -> String? {
        switch self {
        case .text, .html: nil
        case .markdown: trace.markdown
        case .json: trace.json
        }
    }
}

/// Shows a hazard on one stage.
enum ShowCommand {
    /// - Parameter choose: changes which interleavings are run.
    static func run(
        _ hazard: any Hazard, on subject: Subject,
        _ choose: ((inout Exploration.Options) -> Void)?, _ format: Format, output: String? = nil
    ) throws {
        guard let race = hazard as? any Race else {
            if choose != nil || format != .text {
                throw Mistake(
                    "\(hazard.id) has one thread only: there are no interleavings to explore or to "
                        + "write")
            }
            return showOneThread(hazard, subject)
        }
        try checkExploring()
        if case .cannotExpress = race.expectation(on: subject) {
            return showOneThread(race, subject)
        }
        if format == .html {
            let page = try PageCommand.exploration(of: race, on: subject).html
            return try PageCommand.write(page, to: output)
        }
        var options = race.options
        choose?(&options)
        let progress = Progress()
        progress.now("\(race.id) on \(subject)")
        options.progress = {
            progress.now("\(race.id) on \(subject): \($0.explored.grouped) interleavings explored")
        }
        let exploration = explore(options: options, race.scenario(on: subject))
        progress.end()
        if let inconclusive = exploration.inconclusive { throw inconclusive }
        let findings = race.findings(of: exploration, on: subject)
        let trace =
            try findings.first.flatMap { try exploration.counterexample(showing: $0) }
            ?? exploration.toShow.map { try exploration.replay($0) }
        if format != .text {
            // The interleaving and nothing else, for documents and other tools.
            if let text = trace.flatMap(format.written) { print(text, terminator: "") }
            return
        }
        print(Terminal.spread([title(race, subject)], Span(count(exploration, findings))))
        tell(race)
        for sentence in exploration.samplingSentences { print(Terminal.wrapped(sentence)) }
        print(Terminal.wrapped(exploration.failingKindsText))
        guard let trace else { return }
        print("\n\(findings.isEmpty ? "One of them:\n\n" : "")\(table(of: trace))\n")
        for finding in findings {
            print(Terminal.wrapped("✗ in \(finding.count): \(finding)", .failure))
        }
        if findings.isEmpty {
            print(
                trace.findings.isEmpty
                    ? "✓ every check holds" : "✓ survives; the rest is judged in another row")
        }
        besides(exploration)
        print(replayLine(race, subject, trace))
    }

    private static func count(
        _ exploration: Exploration, _ findings: [Exploration.Finding]
    ) -> String {
        let coverage = exploration.coverage
        if case .sampled = coverage {
            return findings.isEmpty
                ? "no failure in \(coverage)" : "\(exploration.failing) of \(coverage) fail"
        }
        return findings.isEmpty
            ? (exploration.survives ? "survives" : "no failure in")
                + " \(coverage): \(exploration.explored)"
            : "\(exploration.failing) of \(exploration.explored) interleavings fail"
    }

    static func title(_ hazard: any Hazard, _ subject: Subject) -> Span {
        Span("\(hazard.id) · \(hazard.name) · \(subject)", .title)
    }

    static func table(of trace: Exploration.Trace) -> String {
        Terminal.text(trace.report(width: Terminal.tableWidth))
    }

    static func replayLine(_ race: any Race, _ subject: Subject, _ trace: Exploration.Trace)
        -> String
    {
        "replay: promise-lab replay \(race.id) \(subject.option) "
            + "--schedule \(trace.scheduleText.quotedForShell)"
    }

    private static func tell(_ hazard: any Hazard) {
        print(Terminal.wrapped((hazard as? any Race)?.storyOfOne ?? hazard.story))
    }

    /// Prints the findings that do not count as failures of this row.
    private static func besides(_ exploration: Exploration) {
        let kinds = Set(exploration.otherFindings.map(\.kind)).sorted()
        for kind in kinds {
            let otherFindings = exploration.otherFindings.filter { $0.kind == kind }
            print(
                Terminal.wrapped(
                    "not counted as a failure, in \(exploration.count(of: kind)): \(kind.rawValue), "
                        + "for example \(otherFindings[0].reason)"))
        }
    }

    private static func showOneThread(_ hazard: any Hazard, _ subject: Subject) {
        print(Terminal.wrapped([title(hazard, subject)]))
        tell(hazard)
        print("")
        switch hazard.run(on: subject) {
        case .survives(_, let detail):
            print(Terminal.wrapped([Span("✓", .success), Span(" \(detail)")]))
        case .fails(let reasons, _, _, let detail):
            print(
                Terminal.wrapped([
                    Span("✗ \(reasons[0].rawValue)", .failure), Span(": \(detail)"),
                ]))
            print(Terminal.wrapped("  that is: \(reasons[0].sentence)"))
        case .cannotExpress(let why):
            print(Terminal.wrapped("– \(subject) cannot express this: \(why)"))
        case .unknown(let why):
            print(Terminal.wrapped("? \(why)"))
        }
    }
}

extension Exploration {
    /// An interleaving to show of a race that survives: one in which nothing was found or, if
    /// there is none, only what another row judges.
    var toShow: Exploration.Schedule? {
        passingSchedule ?? (failing == 0 ? otherFindings.last?.schedule : nil)
    }
}

/// Replays an interleaving of the user's choice.
enum ReplayCommand {
    static func run(
        _ hazard: any Hazard, on subject: Subject, _ schedule: String, _ format: Format
    ) throws {
        guard let race = hazard as? any Race else {
            throw Mistake("\(hazard.id) has one thread only, so there is nothing to schedule")
        }
        try race.check(subject)
        try checkExploring()
        let trace: Exploration.Trace
        do throws(Exploration.ReplayError) {
            trace = try Exploration.replay(
                schedule, options: race.options, race.scenario(on: subject))
        } catch {
            switch error {
            case .malformed: throw Mistake(error.description)
            case .mismatch:
                throw Mistake("this schedule does not fit \(race.id) on \(subject); \(error)")
            case .inconclusive: throw error
            }
        }
        if format == .html {
            throw Mistake(
                "replay writes text, markdown or json; show writes html, and the schedule can be "
                    + "appended to its address: page.html#\(schedule)")
        }
        if let text = format.written(trace) { return print(text, terminator: "") }
        print(Terminal.wrapped([ShowCommand.title(race, subject)]))
        print("\n\(ShowCommand.table(of: trace))\n")
        let judged = trace.findings.filter { race.failingKinds.contains($0.kind) }
        if judged.isEmpty {
            print(Terminal.painted("✓ every check holds", .success))
        } else {
            for finding in judged {
                print(Terminal.wrapped("✗ \(finding)", .failure))
            }
        }
        print(ShowCommand.replayLine(race, subject, trace))
    }
}
