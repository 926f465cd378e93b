import Foundation
import RaceLab
import SharedSuite

extension Command {
    static let bench = Command(
        "bench", "measures the speed of the lab",
        [.word("MEASUREMENT", "what to measure", choices: ["lab"])],
        help: """
            Measures how many interleavings the lab explores in a second: all interleavings of R01
            and R05 on each stage; and the number of context switches, which limit the speed. Then
            the same with reduction: how many interleavings are left, how many runs explore them,
            and how many runs it makes in a second. Then both with tasks: R01 and R02 on the actors
            of the field guide. Takes about twenty-five seconds.
            """
    ) { _ in try BenchCommand.run() }
}

/// Measures the speed of the lab: interleavings and runs in a second, and the effect of reduction.
enum BenchCommand {
    private static let races: [any Race] = races("R01", "R05")
    private static let racesOfTasks: [any Race] = races("R01", "R02")
    private static let actors: [Subject] = [.actor, .repairedActor]
    private static let enough = Duration.seconds(1)

    static func run() throws {
        try checkExploring()
        print(
            Terminal.wrapped("interleavings a second, in this debug build, on one processor") + "\n"
        )
        measure(races, on: Subject.all(.stage), hasTitles: true, rate)
        print(
            "\n"
                + Terminal.wrapped(
                    "with reduction: interleavings, of how many, in how many runs, runs a second")
                + "\n")
        measure(races, on: Subject.all(.stage), hasTitles: false, reduced)
        if let unavailableTasks {
            print("\ntasks cannot be explored here: \(unavailableTasks)")
        } else {
            print("\nthe same with tasks, on the actors of the field guide\n")
            measure(racesOfTasks, on: actors, hasTitles: true, rate)
            print("")
            measure(racesOfTasks, on: actors, hasTitles: false, reduced)
        }
        let usage = Usage()
        print(
            Terminal.fitted(
                """

                ↔: context switches in each interleaving. The operating system puts one thread to sleep
                and wakes the other, which took \(usage.systemShare) % of the time.
                """))
    }

    private static func races(_ ids: String...) -> [any Race] {
        ids.compactMap { Catalogue.hazard($0) as? any Race }
    }

    private static func measure(
        _ races: [any Race], on subjects: [Subject], hasTitles: Bool,
        _ cell: (any Race, Subject) -> [String]
    ) {
        let cells = races.map { race in subjects.map { cell(race, $0) } }
        print(table(races, subjects, cells, hasTitles: hasTitles))
    }

    /// A column for each subject, or a line if the columns do not fit.
    ///
    /// - Parameter cells: the lines of each cell, by race and subject.
    static func table(
        _ races: [any Race], _ subjects: [Subject], _ cells: [[[String]]], hasTitles: Bool,
        width: Int = Terminal.width
    ) -> String {
        let least = hasTitles ? 15 : 24
        let widths = subjects.indices.map { column in
            let texts = cells.flatMap { $0[column] } + (hasTitles ? ["\(subjects[column])"] : [])
            return max(least, (texts.map(\.columns).max() ?? 0) + 2)
        }
        if widths.reduce(6, +) > width {
            return zip(races, cells).flatMap { race, cells in
                zip(subjects, cells).map { subject, lines in
                    Terminal.wrapped(
                        "\(race.id) \(subject): " + lines.joined(separator: ", "), to: width)
                }
            }.joined(separator: "\n")
        }
        func line(_ start: String, _ texts: [String]) -> String {
            start.padded(to: 6) + zip(texts, widths).map { $0.padded(to: $1) }.joined()
        }
        let titles = hasTitles ? [line("", subjects.map { "\($0)" })] : []
        return
            (titles
            + zip(races, cells).flatMap { race, cells in
                (0..<2).map { row in line(row == 0 ? race.id : "", cells.map { $0[row] }) }
            }).joined(separator: "\n")
    }

    /// One interleaving for each order of dependent steps, and the runs that the reduction needs.
    private static func reduced(_ race: any Race, on subject: Subject) -> [String] {
        var options = race.options
        let scenario = race.scenario(on: subject)
        options.reduction = false
        let unreduced = explore(options: options, scenario)
        let all = "\(unreduced.coverage == .all ? "" : "over ")\(unreduced.explored.grouped)"
        options.reduction = true
        let clock = ContinuousClock()
        let start = clock.now
        var (runs, exploration) = (0, explore(options: options, scenario))
        while clock.now - start < enough {
            exploration = explore(options: options, scenario)
            runs += exploration.explored + exploration.redundant
        }
        let executed = exploration.explored + exploration.redundant
        let rate = Int(Double(runs) / ((clock.now - start) / .seconds(1)))
        return ["\(exploration.explored) of \(all) in \(executed)", "\(rate.grouped) runs/s"]
    }

    /// Interleavings a second, and the context switches in each.
    private static func rate(of race: any Race, on subject: Subject) -> [String] {
        var options = race.options
        options.reduction = false
        let scenario = race.scenario(on: subject)
        _ = explore(options: options, scenario)
        let clock = ContinuousClock()
        let (start, before) = (clock.now, Usage())
        var explored = 0
        while clock.now - start < enough {
            explored += explore(options: options, scenario).explored
        }
        let rate = Int(Double(explored) / ((clock.now - start) / .seconds(1)))
        let switches = Usage().switches - before.switches
        return [rate.grouped, "↔ " + String(format: "%.1f", Double(switches) / Double(explored))]
    }

    /// The resources that this process has used so far.
    private struct Usage {
        private let usage: rusage

        init() {
            var usage = rusage()
            #if os(Linux)
                getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            #else
                getrusage(RUSAGE_SELF, &usage)
            #endif
            self.usage = usage
        }

        /// The number of times that a thread went to sleep.
        var switches: Int { Int(usage.ru_nvcsw) }

        var systemShare: Int {
            let (system, user) = (seconds(usage.ru_stime), seconds(usage.ru_utime))
            return Int((100 * system / (system + user)).rounded())
        }

        private func seconds(_ time: timeval) -> Double {
            Double(time.tv_sec) + Double(time.tv_usec) / 1e6
        }
    }
}
