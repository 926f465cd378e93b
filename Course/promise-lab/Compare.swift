import RaceLab
import SharedSuite

extension Command {
    private static let first = Argument.word(
        "A", "a module of a stage or step, or a design, such as BoltsStyle", isRequired: false)
    private static let second = Argument.word("B", "another one", isRequired: false)

    static let compare = Command(
        "compare", "the same race on two subjects",
        [first, second, .hazard] + Argument.subjects,
        help: """
            Shows a race on two subjects side by side, with the interleavings that show would print.
            Each row is a step: the letter of its thread, as in a schedule, the line number, and the
            line. A bar marks a thread that holds a lock, → a change of the state, and ← a note. An
            option can take the place of A or B.

              promise-lab compare PromiseKitStyle Stage3ThreadSafe R06
              promise-lab compare --step A --step B R09

            The exit status is 0, whether they survive or fail.
            """
    ) { arguments in
        let named = try [first, second].compactMap { arguments[$0] }.map(subject)
        let subjects = arguments.subjects + named
        guard subjects.count == 2 else {
            throw Mistake(
                subjects.count > 2
                    ? "compare takes two subjects, not \(subjects.count)"
                    : "missing argument: what to compare, two of \(names)")
        }
        try CompareCommand.run(arguments.hazard(), on: subjects)
    }

    private static let names = Subject.all.map(\.name).joined(separator: ", ")

    private static func subject(_ name: String) throws -> Subject {
        if let subject = Subject(named: name) { return subject }
        throw Mistake("there is no '\(name)' to compare; there are \(names)")
    }
}

/// Shows one race on two subjects side by side.
enum CompareCommand {
    struct Side {
        let subject: Subject
        let exploration: Exploration
        let finding: Exploration.Finding?
        let trace: Exploration.Trace
    }

    static func run(_ hazard: any Hazard, on subjects: [Subject]) throws {
        guard let race = hazard as? any Race else {
            throw Mistake("\(hazard.id) has one thread only: there are no interleavings to compare")
        }
        try checkExploring()
        let sides = try subjects.map { try side(race, $0) }
        print(text(race, sides[0], sides[1]))
    }

    static func text(_ race: any Race, _ left: Side, _ right: Side) -> String {
        let title = Terminal.wrapped("\(race.id) · \(race.name)", .title)
        let story = Terminal.wrapped(race.storyOfOne)
        let halves = Terminal.text(
            Exploration.SideBySide(half(left), half(right)).report(width: Terminal.tableWidth))
        let replays = [left, right].map { ShowCommand.replayLine(race, $0.subject, $0.trace) }
        return ([title, story, "", halves, ""] + replays).joined(separator: "\n")
    }

    static func side(_ race: any Race, _ subject: Subject) throws -> Side {
        try race.check(subject)
        let exploration = race.exploration(on: subject)
        if let inconclusive = exploration.inconclusive { throw inconclusive }
        if let finding = race.findings(of: exploration, on: subject).first,
            let trace = try exploration.counterexample(showing: finding)
        {
            return Side(subject: subject, exploration: exploration, finding: finding, trace: trace)
        }
        guard let schedule = exploration.toShow else {
            throw Mistake("no interleaving of \(race.id) on \(subject) comes to its end")
        }
        let trace = try meeting(exploration) ?? exploration.replay(schedule)
        return Side(subject: subject, exploration: exploration, finding: nil, trace: trace)
    }

    /// An interleaving in which the second thread runs in the middle of the first: right after the
    /// step that changed the visible state. Without a switch there, it would not show a race.
    private static func meeting(_ exploration: Exploration) throws -> Exploration.Trace? {
        let alone = try exploration.replay(prefix: Exploration.Schedule([])).trace
        let steps = alone.steps.prefix { $0.thread == 0 }
        let change = steps.firstIndex { $0.states.map { $0 != alone.initial } ?? false }
        let beginning = Array(repeating: 0, count: (change ?? 0) + 1) + [1]
        guard beginning.count <= steps.count else { return nil }
        let met = try exploration.replay(prefix: Exploration.Schedule(beginning))
        return met.mismatch == nil ? met.trace : nil
    }

    private static func half(_ side: Side) -> Exploration.SideBySide.Half {
        let count = "\(side.exploration.failing) of \(side.exploration.explored) interleavings fail"
        return Exploration.SideBySide.Half(
            heading: ["\(side.subject)", count], side.trace, verdict: verdict(side),
            side.finding == nil ? .success : .failure)
    }

    private static func verdict(_ side: Side) -> String {
        if let finding = side.finding { return "✗ \(finding)" }
        guard let remark = side.trace.findings.first else {
            return "✓ every check holds; this is one of them"
        }
        return "✓ survives; judged in another row: \(remark)"
    }
}
