import RaceLab
import SharedSuite

extension Command {
    static let list = Command(
        name: "list", summary: "every hazard, in a few words",
        help: "Prints the id, the name and a description of every hazard."
    ) { _ in
        for hazard in Catalogue.all {
            print("\(hazard.id)  \(Terminal.painted(hazard.name, .title))")
            print(Terminal.wrapped(hazard.story, margin: 5))
        }
    }

    private static let every = Argument(
        name: "--every",
        about: "explores every order. Without it, interleavings that differ only in the order of "
            + "independent steps are explored once: the verdict is the same, the counts are smaller."
    )
    private static let format = Argument(
        name: "--format", value: "FORMAT", choices: ["text", "markdown", "json", "html"])
    private static let sample = Argument(
        name: "--sample", value: "N",
        about: "runs N executions that are drawn at random, instead of exploring every "
            + "interleaving", excludes: [every.name])
    private static let seed = Argument(
        name: "--seed", value: "S",
        about: "a number: the same one draws the same executions (1)", needs: sample.name)

    /// A page can have a file; other formats go to standard output.
    private static let pageFile = Argument(
        name: "--output", value: "FILE", about: "a file for the page (with --format html)")

    static let show = Command(
        name: "show", summary: "one hazard on a stage, step by step",
        arguments: [.hazard] + Argument.subject + [every, sample, seed, format, pageFile],
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
        let isPage = arguments[format] == "html"
        let hazard = try arguments.hazard()
        let runs = try arguments.number(sample, or: 1)
        let word = arguments[seed] ?? "1"
        guard let seed = UInt64(word) else {
            throw Mistake("--seed takes a whole number from 0 on, not '\(word)'")
        }
        if arguments.has(sample), isPage {
            throw Mistake("a page shows every interleaving: --sample and html do not fit together")
        }
        if arguments.has(pageFile), !isPage {
            throw Mistake("--output is useful only together with --format html")
        }
        let isChosen = arguments.has(every) || arguments.has(sample)
        guard let race = hazard as? any Race else {
            if isChosen || (arguments[format] ?? "text") != "text" {
                throw Mistake(
                    "\(hazard.id) has one thread only: there are no interleavings to explore or to "
                        + "write")
            }
            return ShowCommand.showOneThread(hazard, arguments.subject)
        }
        try checkExploring()
        if case .cannotExpress = race.expectation(on: arguments.subject) {
            return ShowCommand.showOneThread(race, arguments.subject)
        }
        if isPage {
            let page = try PageCommand.exploration(of: race, on: arguments.subject).html
            return try PageCommand.write(page, to: arguments[pageFile])
        }
        var options = race.options
        if arguments.has(every) { options.reduction = false }
        if arguments.has(sample) {
            options.strategy = .sampled(.selectivelyUniform, runs: runs, seed: seed)
        }
        try ShowCommand.run(race, on: arguments.subject, options, arguments[format])
    }

    private static let schedule = Argument(
        name: "--schedule", value: "S", about: "a schedule, such as SRRRS", isRequired: true)

    static let replay = Command(
        name: "replay", summary: "an interleaving of your choice",
        arguments: [.hazard] + Argument.subject + [schedule, format],
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
        let (hazard, subject) = (try arguments.hazard(), arguments.subject)
        let (schedule, format) = (try arguments.required(schedule), arguments[format])
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
        if format == "html" {
            throw Mistake(
                "replay writes text, markdown or json; show writes html, and the schedule can be "
                    + "appended to its address: page.html#\(schedule)")
        }
        if let text = trace.written(in: format) { return print(text, terminator: "") }
        print(Terminal.wrapped([ShowCommand.title(race, subject)]))
        print("\n\(ShowCommand.table(of: trace))\n")
        let judged = trace.findings.filter { race.failingKinds.contains($0.kind) }
        if judged.isEmpty { print(Terminal.painted("✓ every check holds", .success)) }
        for finding in judged { print(Terminal.wrapped("✗ \(finding)", .failure)) }
        print(ShowCommand.replayLine(race, subject, trace))
    }
}

extension Exploration.Trace {
    /// For documents and other tools; `nil` for text, which has more than one trace.
    fileprivate func written(in format: String?) -> String? {
        format == "markdown" ? markdown : format == "json" ? json : nil
    }
}

/// Shows a hazard on one stage, or one of its interleavings.
enum ShowCommand {
    /// Shows a race.
    static func run(
        _ race: any Race, on subject: Subject, _ options: Exploration.Options, _ format: String?
    ) throws {
        var options = options
        let progress = Progress("\(race.id) on \(subject)")
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
        if format == "markdown" || format == "json" {
            return print(trace?.written(in: format) ?? "", terminator: "")
        }
        print(Terminal.spread([title(race, subject)], Span(count(exploration, findings))))
        print(Terminal.wrapped(race.storyOfOne))
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
        let others = Dictionary(grouping: exploration.otherFindings, by: \.kind)
        for kind in others.keys.sorted() {
            let start = "not counted as a failure, in \(exploration.count(of: kind))"
            let example = "\(kind.rawValue), for example \(others[kind]![0].reason)"
            print(Terminal.wrapped("\(start): \(example)"))
        }
        print(replayLine(race, subject, trace))
    }

    private static func count(
        _ exploration: Exploration, _ findings: [Exploration.Finding]
    ) -> String {
        let (coverage, explored) = (exploration.coverage, exploration.explored)
        let isSampled = if case .sampled = coverage { true } else { false }
        if findings.isEmpty {
            let verdict = exploration.survives ? "survives" : "no failure in"
            return "\(verdict) \(coverage)" + (isSampled ? "" : ": \(explored)")
        }
        let all = isSampled ? "\(coverage)" : "\(explored) interleavings"
        return "\(exploration.failing) of \(all) fail"
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

    /// Shows a hazard without interleavings: it has one thread, or the subject cannot express it.
    static func showOneThread(_ hazard: any Hazard, _ subject: Subject) {
        print(Terminal.wrapped([title(hazard, subject)]))
        print(Terminal.wrapped((hazard as? any Race)?.storyOfOne ?? hazard.story) + "\n")
        switch hazard.run(on: subject) {
        case .survives(_, let detail):
            print(Terminal.wrapped([Span("✓", .success), Span(" \(detail)")]))
        case .fails(let reasons, _, _, let detail):
            let reason = Span("✗ \(reasons[0].rawValue)", .failure)
            print(Terminal.wrapped([reason, Span(": \(detail)")]))
            print(Terminal.wrapped("  that is: \(reasons[0].sentence)"))
        case .cannotExpress(let why):
            print(Terminal.wrapped("– \(subject) cannot express this: \(why)"))
        case .unknown(let why):
            print(Terminal.wrapped("? \(why)"))
        }
    }
}
