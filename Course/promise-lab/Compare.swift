import RaceLab
import SharedSuite

extension Command {
    private static let first = Argument(
        name: "A", about: "a module of a stage or step, or a design, such as BoltsStyle")
    private static let second = Argument(name: "B", about: "another one")

    static let compare = Command(
        name: "compare", summary: "the same race on two subjects",
        arguments: [first, second, .hazard] + Argument.subjects,
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
        let names = Subject.all.map(\.name).joined(separator: ", ")
        let named = try [first, second].compactMap { arguments[$0] }.map { name in
            if let subject = Subject(named: name) { return subject }
            throw Mistake("there is no '\(name)' to compare; there are \(names)")
        }
        let subjects = arguments.subjects + named
        guard subjects.count == 2 else {
            throw Mistake(
                subjects.count > 2
                    ? "compare takes two subjects, not \(subjects.count)"
                    : "missing argument: what to compare, two of \(names)")
        }
        let hazard = try arguments.hazard()
        guard let race = hazard as? any Race else {
            throw Mistake("\(hazard.id) has one thread only: there are no interleavings to compare")
        }
        try checkExploring()
        let sides = try subjects.map { try CompareCommand.side(race, $0) }
        print(CompareCommand.text(race, sides[0], sides[1]))
    }
}

/// Shows one race on two subjects side by side.
enum CompareCommand {
    typealias Side = (
        subject: Subject, trace: Exploration.Trace, half: Exploration.SideBySide.Half
    )

    static func text(_ race: any Race, _ left: Side, _ right: Side) -> String {
        let halves = Exploration.SideBySide(left.half, right.half)
        return [
            Terminal.wrapped("\(race.id) · \(race.name)", .title),
            Terminal.wrapped(race.storyOfOne), "",
            Terminal.text(halves.report(width: Terminal.tableWidth)), "",
            ShowCommand.replayLine(race, left.subject, left.trace),
            ShowCommand.replayLine(race, right.subject, right.trace),
        ].joined(separator: "\n")
    }

    static func side(_ race: any Race, _ subject: Subject) throws -> Side {
        try race.check(subject)
        let exploration = race.exploration(on: subject)
        if let inconclusive = exploration.inconclusive { throw inconclusive }
        let count = "\(exploration.failing) of \(exploration.explored) interleavings fail"
        let half = { (trace: Exploration.Trace, verdict: String, role: Span.Role) in
            Exploration.SideBySide.Half(
                heading: ["\(subject)", count], trace, verdict: verdict, role)
        }
        if let finding = race.findings(of: exploration, on: subject).first,
            let trace = try exploration.counterexample(showing: finding)
        {
            return (subject, trace, half(trace, "✗ \(finding)", .failure))
        }
        guard let schedule = exploration.toShow else {
            throw Mistake("no interleaving of \(race.id) on \(subject) comes to its end")
        }
        let trace = try meeting(exploration) ?? exploration.replay(schedule)
        let survival =
            trace.findings.first.map { "✓ survives; judged in another row: \($0)" }
            ?? "✓ every check holds; this is one of them"
        return (subject, trace, half(trace, survival, .success))
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
}
