import RaceLab

/// How many executions it takes until a known bug is found: all interleavings one after another, and
/// drawn at random in several ways.
enum SamplingTable {
    private static let seeds = UInt64(1)...21
    private static let most = 1_000

    /// A line for each classic that fails, but not in the first execution.
    static func lines() -> [String] {
        let methods = SamplingTests.methods
        let titles =
            ["", "all", "until the first failure"] + methods.map { SamplingTable.title(of: $0) }
        var rows = [titles]
        for classic in Classic.all {
            guard case .fails(let kind) = classic.expected else { continue }
            let all = exploration(of: classic, kind) { $0.stopsAtFirstFailure = false }
            let first = exploration(of: classic, kind) { _ in }
            guard first.explored > 1 else { continue }
            let medians = methods.map { method in
                median(
                    seeds.map { seed in
                        let sample = exploration(of: classic, kind) {
                            $0.strategy = .sampled(method, runs: most, seed: seed)
                        }
                        return sample.failing == 0 ? .max : sample.explored
                    })
            }
            rows.append([classic.name, "\(all.explored)", "\(first.explored)"] + medians)
        }
        let widths = titles.indices.map { column in rows.map { $0[column].count }.max()! }
        return rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + space : space + cell.0
            }.joined(separator: "  ")
        }
    }

    private static func exploration(
        of classic: Classic, _ kind: Exploration.Finding.Kind,
        _ change: (inout Exploration.Options) -> Void
    ) -> Exploration {
        var options = Exploration.Options()
        options.failingKinds = [kind]
        options.stopsAtFirstFailure = true
        change(&options)
        return explore(options: options, classic.describe)
    }

    private static func median(_ numbers: [Int]) -> String {
        let median = numbers.sorted()[numbers.count / 2]
        return median == .max ? "more" : "\(median)"
    }

    private static func title(of method: Exploration.Options.Sampling) -> String {
        switch method {
        case .randomWalk: "walk"
        case .pct(let depth): "PCT \(depth)"
        case .partialOrder: "POS"
        case .selectivelyUniform: "SURW"
        }
    }
}
