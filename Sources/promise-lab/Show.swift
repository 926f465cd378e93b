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

/// What happens on one stage.
enum ShowCommand {
    static func run(_ hazard: any Hazard, on stage: Stage) throws {
        guard let race = hazard as? any Race else { return showOneThread(hazard, stage) }
        if let unavailable { throw Matrix.Unavailable(description: unavailable) }
        if case .cannotExpress = race.expectation(on: stage) { return showOneThread(race, stage) }
        let report = race.report(on: stage)
        if let obstacle = report.obstacle { throw obstacle }
        let findings = race.findings(of: report, on: stage)
        if let finding = findings.first {
            let count = "\(report.failing) of \(report.explored) interleavings fail"
            print(Terminal.spread(title(race, stage), count))
            tell(race)
            guard
                let trace = try report.counterexample(
                    showing: finding, options: race.options, race.scenario(on: stage))
            else { return }
            print("\n\(trace.table(width: Terminal.width))\n")
            print(Terminal.wrapped("✗ in \(finding.count): \(finding)"))
            for finding in findings.dropFirst() {
                print(Terminal.wrapped("✗ in \(finding.count): \(finding)"))
            }
            besides(report)
            print(replayLine(race, stage, trace))
        } else {
            let count = "survives \(report.extent): \(report.explored)"
            print(Terminal.spread(title(race, stage), count))
            tell(race)
            guard let schedule = report.surviving else { return }
            let trace = try replay(schedule, options: race.options, race.scenario(on: stage))
            print("\nOne of them:\n\n\(trace.table(width: Terminal.width))\n")
            print("✓ every check holds")
            besides(report)
            print(replayLine(race, stage, trace))
        }
    }

    static func title(_ hazard: any Hazard, _ stage: Stage) -> String {
        Terminal.painted("\(hazard.id) · \(hazard.name) · \(stage)", .bold)
    }

    static func replayLine(_ race: any Race, _ stage: Stage, _ trace: Trace) -> String {
        "replay: promise-lab replay \(race.id) --stage \(stage.rawValue) "
            + "--schedule \(trace.scheduleText)"
    }

    private static func tell(_ hazard: any Hazard) {
        print(Terminal.wrapped(hazard.story))
    }

    /// What was found, but is judged elsewhere.
    private static func besides(_ report: Report) {
        let kinds = Set(report.remarks.map(\.kind)).sorted()
        for kind in kinds {
            let remarks = report.remarks.filter { $0.kind == kind }
            let count = remarks.map(\.count).max() ?? 0
            print(
                Terminal.wrapped(
                    "besides, in \(count) or more: \(kind.rawValue), for one: \(remarks[0].reason)")
            )
        }
    }

    private static func showOneThread(_ hazard: any Hazard, _ stage: Stage) {
        print(title(hazard, stage))
        tell(hazard)
        print("")
        switch hazard.run(on: stage) {
        case .survives(_, let detail):
            print(Terminal.wrapped(Terminal.painted("✓", .green) + " \(detail)"))
        case .fails(let reasons, _, _, let detail):
            print(
                Terminal.wrapped(Terminal.painted("✗ \(reasons[0].rawValue)", .red) + ": \(detail)")
            )
            print(Terminal.wrapped("  that is: \(reasons[0].sentence)"))
        case .cannotExpress(let why):
            print(Terminal.wrapped("– \(stage) cannot express this: \(why)"))
        case .unknown(let why):
            print(Terminal.wrapped("? \(why)"))
        }
    }
}

/// One interleaving of the user's choice.
enum ReplayCommand {
    static func run(_ hazard: any Hazard, on stage: Stage, _ schedule: String) throws {
        guard let race = hazard as? any Race else {
            throw Mistake("\(hazard.id) has one thread only, so there is nothing to schedule")
        }
        if case .cannotExpress(let why) = race.expectation(on: stage) {
            throw Mistake("\(stage) cannot express \(race.id): \(why)")
        }
        if let unavailable { throw Matrix.Unavailable(description: unavailable) }
        let trace: Trace
        do {
            trace = try replay(schedule, options: race.options, race.scenario(on: stage))
        } catch let malformed as Schedule.Malformed {
            throw Mistake(malformed.description)
        } catch let misfit as Misfit {
            throw Mistake("this schedule does not fit \(race.id) on \(stage); \(misfit)")
        }
        print(ShowCommand.title(race, stage))
        print("\n\(trace.table(width: Terminal.width))\n")
        let judged = trace.findings.filter { race.judging.contains($0.kind) }
        if judged.isEmpty {
            print("✓ every check holds")
        } else {
            for finding in judged { print(Terminal.wrapped("✗ \(finding)")) }
        }
        print(ShowCommand.replayLine(race, stage, trace))
    }
}
