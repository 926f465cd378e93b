import RaceLab
import SharedSuite

enum ListCommand {
    static func run() {
        for hazard in Catalogue.all {
            print("\(hazard.id)  \(Terminal.painted(hazard.name, .bold))")
            print(Terminal.wrapped(hazard.story, indentation: "     "))
        }
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
    /// - Parameter everyOrder: also explores interleavings that differ only in the order of
    ///   independent steps.
    static func run(
        _ hazard: any Hazard, on subject: Subject, everyOrder: Bool, _ format: Format
    ) throws {
        guard let race = hazard as? any Race else {
            if everyOrder || format != .text { throw Mistake(needsThreads(hazard)) }
            return showOneThread(hazard, subject)
        }
        if let unavailable = Exploration.unavailable {
            throw Matrix.Unavailable(description: unavailable)
        }
        if case .cannotExpress = race.expectation(on: subject) {
            return showOneThread(race, subject)
        }
        if format == .html {
            return print(try PageCommand.exploration(of: race, on: subject).html, terminator: "")
        }
        var options = race.options
        if everyOrder { options.reduction = false }
        let progress = Progress()
        progress.now("\(race.id) on \(subject)")
        options.progress = {
            progress.now("\(race.id) on \(subject): \($0.explored.grouped) interleavings explored")
        }
        let exploration = explore(options: options, race.scenario(on: subject))
        progress.end()
        if let inconclusive = exploration.inconclusive { throw inconclusive }
        let findings = race.findings(of: exploration, on: subject)
        if format != .text { return try write(exploration, findings.first, race, subject, format) }
        if let finding = findings.first {
            let count = "\(exploration.failing) of \(exploration.explored) interleavings fail"
            print(Terminal.spread(title(race, subject), count))
            tell(race)
            print(Terminal.wrapped(exploration.failingKindsText))
            guard
                let trace = try exploration.counterexample(showing: finding)
            else { return }
            print("\n\(Terminal.table(of: trace))\n")
            print(Terminal.painted(Terminal.wrapped("✗ in \(finding.count): \(finding)"), .red))
            for finding in findings.dropFirst() {
                print(Terminal.painted(Terminal.wrapped("✗ in \(finding.count): \(finding)"), .red))
            }
            besides(exploration)
            print(replayLine(race, subject, trace))
        } else {
            let count =
                (exploration.survives ? "survives" : "no failure in")
                + " \(exploration.coverage): \(exploration.explored)"
            print(Terminal.spread(title(race, subject), count))
            tell(race)
            print(Terminal.wrapped(exploration.failingKindsText))
            guard let schedule = exploration.toShow else { return }
            let trace = try exploration.replay(schedule)
            print("\nOne of them:\n\n\(Terminal.table(of: trace))\n")
            print(
                trace.findings.isEmpty
                    ? "✓ every check holds" : "✓ survives; the rest is judged in another row")
            besides(exploration)
            print(replayLine(race, subject, trace))
        }
    }

    /// Prints one interleaving and nothing else, for documents and other tools.
    private static func write(
        _ exploration: Exploration, _ finding: Exploration.Finding?, _ race: any Race,
        _ subject: Subject,
        _ format: Format
    ) throws {
        let trace =
            try finding.flatMap {
                try exploration.counterexample(showing: $0)
            } ?? exploration.toShow.map { try exploration.replay($0) }
        if let text = trace.flatMap(format.written) { print(text, terminator: "") }
    }

    private static func needsThreads(_ hazard: any Hazard) -> String {
        "\(hazard.id) has one thread only: there are no interleavings to explore or to write"
    }

    static func title(_ hazard: any Hazard, _ subject: Subject) -> String {
        Terminal.painted("\(hazard.id) · \(hazard.name) · \(subject)", .bold)
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
        print(title(hazard, subject))
        tell(hazard)
        print("")
        switch hazard.run(on: subject) {
        case .survives(_, let detail):
            print(Terminal.wrapped(Terminal.painted("✓", .green) + " \(detail)"))
        case .fails(let reasons, _, _, let detail):
            print(
                Terminal.wrapped(Terminal.painted("✗ \(reasons[0].rawValue)", .red) + ": \(detail)")
            )
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
        if case .cannotExpress(let why) = race.expectation(on: subject) {
            throw Mistake("\(subject) cannot express \(race.id): \(why)")
        }
        if let unavailable = Exploration.unavailable {
            throw Matrix.Unavailable(description: unavailable)
        }
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
        print(ShowCommand.title(race, subject))
        print("\n\(Terminal.table(of: trace))\n")
        let judged = trace.findings.filter { race.failingKinds.contains($0.kind) }
        if judged.isEmpty {
            print(Terminal.painted("✓ every check holds", .green))
        } else {
            for finding in judged {
                print(Terminal.painted(Terminal.wrapped("✗ \(finding)"), .red))
            }
        }
        print(ShowCommand.replayLine(race, subject, trace))
    }
}
