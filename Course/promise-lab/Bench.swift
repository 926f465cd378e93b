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
        if let unavailable = Exploration.unavailable {
            throw Matrix.Unavailable(description: unavailable)
        }
        print("interleavings a second, in this debug build, on one processor\n")
        printRates(of: races, on: Subject.all(.stage))
        print("\nwith reduction: interleavings, of how many, in how many runs, runs a second\n")
        printReduced(races, on: Subject.all(.stage))
        if let unavailableTasks {
            print("\ntasks cannot be explored here: \(unavailableTasks)")
        } else {
            print("\nthe same with tasks, on the actors of the field guide\n")
            printRates(of: racesOfTasks, on: actors)
            print("")
            printReduced(racesOfTasks, on: actors)
        }
        let usage = Usage()
        print(
            """

            ↔: context switches in each interleaving. The operating system puts one thread to sleep
            and wakes the other, which took \(usage.systemShare) % of the time.
            """)
    }

    private static func races(_ ids: String...) -> [any Race] {
        ids.compactMap { Catalogue.hazard($0) as? any Race }
    }

    private static func printRates(of races: [any Race], on subjects: [Subject]) {
        print("      " + subjects.map { "\($0)".padded(to: 15) }.joined())
        for race in races {
            let rates = subjects.map { Rate(of: race, on: $0) }
            print(race.id.padded(to: 6) + rates.map { $0.aSecond.grouped.padded(to: 15) }.joined())
            print("      " + rates.map { $0.handOvers.padded(to: 15) }.joined())
        }
    }

    private static func printReduced(_ races: [any Race], on subjects: [Subject]) {
        for race in races {
            let cells = subjects.map { Reduced(of: race, on: $0) }
            print(race.id.padded(to: 6) + cells.map { $0.counts.padded(to: 24) }.joined())
            print("      " + cells.map { $0.rate.padded(to: 24) }.joined())
        }
    }

    /// One interleaving for each order of dependent steps, and the runs that the reduction needs.
    private struct Reduced {
        let counts: String
        let rate: String

        init(of race: any Race, on subject: Subject) {
            var options = race.options
            let scenario = race.scenario(on: subject)
            options.reduction = false
            let unreduced = explore(options: options, scenario)
            let isAll = unreduced.coverage == .all
            let all = "\(isAll ? "" : "over ")\(unreduced.explored.grouped)"
            options.reduction = true
            let clock = ContinuousClock()
            let start = clock.now
            var (runs, exploration) = (0, explore(options: options, scenario))
            while clock.now - start < enough {
                exploration = explore(options: options, scenario)
                runs += exploration.explored + exploration.redundant
            }
            let executed = exploration.explored + exploration.redundant
            counts = "\(exploration.explored) of \(all) in \(executed)"
            rate = "\(Int(Double(runs) / ((clock.now - start) / .seconds(1))).grouped) runs/s"
        }
    }

    private struct Rate {
        let aSecond: Int
        let handOvers: String

        init(of race: any Race, on subject: Subject) {
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
            aSecond = Int(Double(explored) / ((clock.now - start) / .seconds(1)))
            let switches = Usage().switches - before.switches
            handOvers = "↔ " + String(format: "%.1f", Double(switches) / Double(explored))
        }
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
