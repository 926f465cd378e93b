import Foundation
import RaceLab
import SharedSuite

extension Command {
    static let bench = Command(
        name: "bench", summary: "measures the speed of the lab",
        arguments: [
            Argument(
                name: "MEASUREMENT", about: "what to measure", choices: ["lab"], isRequired: true)
        ],
        help: """
            Measures how many interleavings the lab explores in a second: all interleavings of R01
            and R05 on each stage; and the number of context switches, which limit the speed. Then
            the same with reduction: how many interleavings are left, how many runs explore them,
            and how many runs it makes in a second. Then both with tasks: R01 and R02 on the actors
            of the field guide. Takes about twenty-five seconds.
            """
    ) { _ in
        try checkExploring()
        let title = "interleavings a second, in this debug build, on one processor"
        print(Terminal.wrapped(title) + "\n")
        let reduction =
            "with reduction: interleavings, of how many, in how many runs, runs a second"
        BenchCommand.measure(
            ["R01", "R05"], on: Subject.all(.stage), "\n\(Terminal.wrapped(reduction))\n")
        if let unavailableTasks {
            print("\ntasks cannot be explored here: \(unavailableTasks)")
        } else {
            print("\nthe same with tasks, on the actors of the field guide\n")
            BenchCommand.measure(["R01", "R02"], on: [.actor, .repairedActor], "")
        }
        var used = tms()
        times(&used)
        let share = 100 * Double(used.tms_stime) / Double(used.tms_stime + used.tms_utime)
        print(
            Terminal.fitted(
                """

                ↔: context switches in each interleaving. The operating system puts one thread to sleep
                and wakes the other, which took \(Int(share.rounded())) % of the time.
                """))
    }
}

/// Measures the speed of the lab: interleavings and runs in a second, and the effect of reduction.
enum BenchCommand {
    /// Prints the speed without reduction, a title, and the speed with reduction.
    fileprivate static func measure(_ ids: [String], on subjects: [Subject], _ title: String) {
        let races = Catalogue.races.filter { ids.contains($0.id) }
        let rates = races.map { race in subjects.map { rate(of: race, on: $0) } }
        print(table(races, subjects, rates, hasTitles: true))
        print(title)
        let others = races.map { race in subjects.map { reduced(race, on: $0) } }
        print(table(races, subjects, others, hasTitles: false))
    }

    /// A column for each subject, or a line if the columns do not fit.
    ///
    /// - Parameter cells: the two lines of each cell, by race and subject.
    static func table(
        _ races: [any Race], _ subjects: [Subject], _ cells: [[[String]]], hasTitles: Bool,
        width: Int = Terminal.width
    ) -> String {
        let titles = hasTitles ? [[""] + subjects.map { "\($0)" }] : []
        let rows =
            titles
            + zip(races, cells).flatMap { race, cells in
                (0..<2).map { line in [line == 0 ? race.id : ""] + cells.map { $0[line] } }
            }
        let widths = (0...subjects.count).map { column in
            let least = column == 0 ? 6 : hasTitles ? 15 : 24
            return max(least, rows.map { $0[column].columns }.max()! + 2)
        }
        let lines =
            widths.reduce(0, +) <= width
            ? rows.map { row in zip(row, widths).map { $0.padded(to: $1) }.joined() }
            : zip(races, cells).flatMap { race, cells in
                zip(subjects, cells).map { subject, lines in
                    let cell = lines.joined(separator: ", ")
                    return Terminal.wrapped("\(race.id) \(subject): \(cell)", to: width)
                }
            }
        return lines.joined(separator: "\n")
    }

    /// One interleaving for each order of dependent steps, and the runs that the reduction needs.
    private static func reduced(_ race: any Race, on subject: Subject) -> [String] {
        var options = race.options
        let scenario = race.scenario(on: subject)
        options.reduction = false
        let unreduced = explore(options: options, scenario)
        let all = "\(unreduced.coverage == .all ? "" : "over ")\(unreduced.explored.grouped)"
        options.reduction = true
        let once = explore(options: options, scenario)
        let (_, rate) = inASecond {
            let again = explore(options: options, scenario)
            return again.explored + again.redundant
        }
        let runs = once.explored + once.redundant
        return ["\(once.explored) of \(all) in \(runs)", "\(rate.grouped) runs/s"]
    }

    /// Interleavings a second, and the context switches in each.
    private static func rate(of race: any Race, on subject: Subject) -> [String] {
        var options = race.options
        options.reduction = false
        let scenario = race.scenario(on: subject)
        _ = explore(options: options, scenario)
        let before = switches
        let (explored, rate) = inASecond { explore(options: options, scenario).explored }
        let each = Double(switches - before) / Double(explored)
        return [rate.grouped, "↔ " + String(format: "%.1f", each)]
    }

    /// Repeats what counts something, for at least a second.
    private static func inASecond(_ count: () -> Int) -> (count: Int, rate: Int) {
        let start = ContinuousClock.now
        var sum = 0
        while ContinuousClock.now - start < .seconds(1) { sum += count() }
        return (sum, Int(Double(sum) / ((ContinuousClock.now - start) / .seconds(1))))
    }

    /// How often a thread of this process went to sleep so far.
    private static var switches: Int {
        var usage = rusage()
        #if os(Linux)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        return Int(usage.ru_nvcsw)
    }
}
