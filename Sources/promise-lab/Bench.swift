import RaceLab
import SharedSuite

/// How fast the lab is: interleavings a second, all of them, without leaving any out.
enum BenchCommand {
    private static let races = ["R01", "R05"]
    private static let enough = Duration.seconds(1)

    static func run() throws {
        if let unavailable { throw Matrix.Unavailable(description: unavailable) }
        print("interleavings a second, in this debug build, on one processor\n")
        print("      " + Stage.allCases.map { "\($0)".padded(to: 12) }.joined())
        for id in races {
            guard let race = Catalogue.hazard(id) as? any Race else { continue }
            let rates = Stage.allCases.map { rate(of: race, on: $0).grouped.padded(to: 12) }
            print(id.padded(to: 6) + rates.joined())
        }
    }

    private static func rate(of race: any Race, on stage: Stage) -> Int {
        var options = race.options
        options.reduction = false
        let scenario = race.scenario(on: stage)
        _ = explore(options: options, scenario)
        let clock = ContinuousClock()
        let start = clock.now
        var explored = 0
        while clock.now - start < enough {
            explored += explore(options: options, scenario).explored
        }
        return Int(Double(explored) / ((clock.now - start) / .seconds(1)))
    }
}
