import CRaceLab
import Foundation
import Models
import RaceLab
import RaceLabTesting
import Testing

/// Interleavings that are drawn at random.
@Suite("Sampling", .needsTheLab)
struct SamplingTests {
    typealias Method = Exploration.Options.Sampling

    static let methods: [Method] = [
        .randomWalk, .pct(depth: 2), .pct(depth: 3), .partialOrder, .selectivelyUniform,
    ]

    static func options(
        _ method: Method, runs: Int, seed: UInt64 = 1
    ) -> Exploration.Options {
        .with { $0.strategy = .sampled(method, runs: runs, seed: seed) }
    }

    /// The example of docs/Sampling.md.
    func sample(of scenario: @escaping (Scenario) -> Void) -> Exploration {
        var options = Exploration.Options()
        options.strategy = .sampled(.pct(depth: 3), runs: 10_000, seed: 1)
        return explore(options: options, scenario)
    }

    /// The attempt comes long after the release that it could have missed. In a child process,
    /// because memory was overwritten here.
    @Test("a sampled run with an attempt is shown with the fewest switches")
    func attemptLongAfterRelease() {
        var options = Self.options(.randomWalk, runs: 300)
        options.isolation = .patient
        let exploration = explore(options: options) { scenario in
            let lock = NSLock()
            let log = Scenario.Log<Int>()
            scenario.thread("takes") { lock.withLock {} }
            scenario.thread("works") { for step in 0..<40 { log.append(step) } }
            scenario.thread("tries") { if lock.try() { lock.unlock() } }
            scenario.check { try Scenario.require(log.entries.isEmpty, "always") }
        }
        #expect(exploration.findings.map(\.kind) == [.failedCheck], "\(exploration.text())")
        #expect(exploration.failing == 300)
    }

    @Test("the example of the page")
    func example() {
        let classic = Classic.named("ticket lock in two steps")!
        #expect(sample(of: classic.describe).failing > 0)
    }

    /// Fails only if three steps of one thread come between certain steps of the other.
    static func deep(_ scenario: Scenario) {
        nonisolated(unsafe) var first = 0, second = 0, third = 0, seen: [Int] = []
        scenario.thread("writer") {
            for number in 1...3 {
                first = number
                second = number
                third = number
            }
        }
        scenario.thread("reader") {
            seen = [first, second, third]
        }
        scenario.check { try Scenario.require(seen != [1, 2, 3], "three different moments") }
    }

    // MARK: Both directions

    static let fails = [
        "lost update", "store buffering", "two philosophers", "three philosophers",
        "stack: A, B, A", "cache makes twice", "waiter goes on twice", "callbacks under a lock",
    ].compactMap(Classic.named).filter { $0.expected != .survives }

    @Test("every method finds a known bug, and its interleaving replays", arguments: methods)
    func finds(by method: Method) throws {
        for classic in Self.fails {
            let exploration = explore(
                options: Self.options(method, runs: 2_000), classic.describe)
            let finding = try #require(exploration.findings.first, Comment(rawValue: classic.name))
            #expect(!exploration.survives && exploration.coverage == .sampled(executions: 2_000))
            #expect(.fails(finding.kind) == classic.expected, "\(exploration.text())")
            let trace = try exploration.replay(finding.schedule)
            #expect(trace.findings.contains { $0.kind == finding.kind }, "\(trace.table())")
        }
    }

    @Test("nothing is found in what survives, and that is never called so", arguments: methods)
    func findsNothing(by method: Method) throws {
        for classic in Classic.all where classic.expected == .survives {
            let exploration = explore(options: Self.options(method, runs: 50), classic.describe)
            #expect(exploration.failing == 0, "\(exploration.text())")
            #expect(!exploration.survives && exploration.unreached.isEmpty)
            #expect(exploration.summary == "no failure in 50 sampled executions")
        }
    }

    @Test("a sample has the outcomes of all interleavings, and no other", arguments: methods)
    func outcomes(by method: Method) {
        let everyOrder = Exploration.Options.with {
            $0.reduction = false
            $0.maximumInterleavings = 1_000
        }
        for seed in UInt64(1)...20 {
            let program = RandomQueueProgram(seed: seed)
            let all = explore(options: everyOrder, program.describe)
            guard all.coverage == .all, all.inconclusive == nil else { continue }
            let sample = explore(options: Self.options(method, runs: 300), program.describe)
            #expect(sample.inconclusive == nil)
            #expect(Set(sample.outcomes.keys).isSubset(of: all.outcomes.keys), "\(program)")
            let kinds = Set(sample.findings.map(\.kind))
            #expect(kinds.isSubset(of: Set(all.findings.map(\.kind))), "\(program)")
        }
    }

    @Test("of what was drawn, the equivalent with the fewest switches is shown", arguments: methods)
    func fewestSwitches(by method: Method) throws {
        let describe = { (scenario: Scenario) in
            nonisolated(unsafe) var shared = 0, left = 0, right = 0
            scenario.thread("left") {
                for _ in 1...5 { left += 1 }
                let seen = shared
                shared = seen + 1
                for _ in 1...5 { left += 1 }
            }
            scenario.thread("right") {
                for _ in 1...5 { right += 1 }
                let seen = shared
                shared = seen + 1
                for _ in 1...5 { right += 1 }
            }
            scenario.check { try Scenario.require(shared == 2, "an update is lost") }
        }
        let sample = explore(options: Self.options(method, runs: 200), describe)
        let lost = try #require(sample.findings.first { $0.kind == .failedCheck })
        let choices = lost.schedule.choices
        #expect(zip(choices, choices.dropFirst()).count { $0 != $1 } == 2, "\(choices)")
    }

    // MARK: Determinism

    @Test("a seed draws the same interleavings, also in a child process", arguments: methods)
    func isDeterministic(_ method: Method) {
        let texts = [1, 1, 2].map { seed in
            explore(options: Self.options(method, runs: 40, seed: seed), Self.deep).json
        }
        #expect(texts[0] == texts[1])
        #expect(texts[0] != texts[2])
        var options = Self.options(method, runs: 40)
        options.isolation = .patient
        #expect(explore(options: options, Self.deep).json == texts[0])
    }

    @Test("an execution that crashes counts, and the others are drawn as without it")
    func crash() throws {
        var options = Self.options(.randomWalk, runs: 60)
        options.isolation = .patient
        let exploration = explore(options: options) { scenario in
            nonisolated(unsafe) var count = 0
            scenario.thread("first") { count += 1 }
            scenario.thread("second") { precondition(count == 0) }
        }
        let crashes = exploration.count(of: .crash)
        #expect((10...50).contains(crashes), "\(exploration.text())")
        #expect(exploration.explored == 60 && exploration.inconclusive == nil)
    }

    // MARK: Bounds

    @Test("bounds hold")
    func bounds() {
        for runs in [0, -5, 1] {
            let one = explore(options: Self.options(.randomWalk, runs: runs), Self.deep)
            #expect(one.explored == 1 && !one.survives)
        }
        var options = Self.options(.randomWalk, runs: 1_000)
        options.failingKinds = [.failedCheck, .dataRace]
        options.stopsAtFirstFailure = true
        let first = explore(options: options, Self.deep)
        #expect(first.limit == .firstFailure)
        #expect(first.coverage == .sampled(executions: first.explored))
        #expect(first.summary.hasPrefix("first failure in sampled execution \(first.explored): "))
        options.stopsAtFirstFailure = false
        options.maximumInterleavings = 10
        options.preemptionBound = 0
        for method in Self.methods {
            options.strategy = .sampled(method, runs: 300, seed: 3)
            let exploration = explore(options: options, Self.deep)
            #expect(exploration.explored == 300)
            #expect(exploration.findings.allSatisfy { $0.kind != .failedCheck })
        }
    }

    @Test("expectSurvives fails for a sample, unless partial coverage is allowed")
    func expectation() {
        let options = Self.options(.partialOrder, runs: 20)
        let classic = Classic.named("locked increments")!
        withKnownIssue {
            expectSurvives(options: options, classic.describe)
        } matching: { issue in
            "\(issue)".contains("no failure in 20 sampled executions")
        }
        expectSurvives(options: options, allowingPartialCoverage: true, classic.describe)
    }

    @Test("the report says how it was drawn, and what is known")
    func words() {
        let classic = Classic.named("locked increments")!
        let options = Self.options(.pct(depth: 2), runs: 100, seed: 7)
        let text = explore(options: options, classic.describe).text()
        #expect(text.contains("drawn by: PCT, depth 2; seed 7"))
        #expect(text.contains("fails in less than 3 of 100 cases, with a confidence of"))
        #expect(text.contains("misses a bug of depth 2"), "\(text)")
    }

    // MARK: The distributions, without a single thread

    /// Draws an order of the steps of two threads, all at one place.
    private func order(_ sampler: inout rl_sampler, _ steps: [Int]) -> String {
        var left = steps
        var view = rl_view()
        var order = ""
        view.thread_count = Int32(steps.count)
        view.last = -1
        while left.contains(where: { $0 > 0 }) {
            var pending = left.map { count in
                rl_pending(
                    address: 1, pc: 7, kind: UInt8(RL_MODIFY.rawValue), waits: count > 0,
                    is_spinning: false)
            }
            view.could.enabled = 0
            for thread in left.indices where left[thread] > 0 {
                view.could.enabled |= 1 << UInt32(thread)
            }
            let thread = pending.withUnsafeMutableBufferPointer { buffer in
                view.pending = UnsafePointer(buffer.baseAddress)
                return Int(rl_sampled_choice(&sampler, &view))
            }
            left[thread] -= 1
            order += String(thread)
            view.last = Int32(thread)
            view.step += 1
        }
        return order
    }

    private func orders(
        _ count: Int, _ steps: [Int], _ prepare: (inout rl_sampler, inout UInt64) -> Void
    ) -> [String: Int] {
        var random: UInt64 = 1
        var orders: [String: Int] = [:]
        for _ in 0..<count {
            var sampler = rl_sampler()
            sampler.random = rl_random(&random)
            sampler.preemption_bound = .max
            sampler.intended = -1
            prepare(&sampler, &random)
            orders[order(&sampler, steps), default: 0] += 1
        }
        return orders
    }

    /// Pearson's sum for 70 orders that should be equally likely: about 69 if they are.
    private func deviation(_ orders: [String: Int], of count: Int) -> Double {
        let expected = Double(count) / 70
        let missing = Double(70 - orders.count) * expected
        return missing
            + orders.values.reduce(0) { $0 + pow(Double($1) - expected, 2) / expected }
    }

    @Test("the selectively uniform walk draws each order equally often; a random walk does not")
    func uniform() {
        let uniform = orders(7_000, [4, 4]) { sampler, _ in
            sampler.method = RL_UNIFORM
            (sampler.places.0, sampler.place_count) = (7, 1)
            (sampler.left.0, sampler.left.1) = (4, 4)
            withUnsafeMutableBytes(of: &sampler.starter) { starters in
                for k in starters.indices { starters[k] = 255 }
            }
        }
        let walk = orders(7_000, [4, 4]) { sampler, _ in sampler.method = RL_RANDOM_WALK }
        #expect(uniform.count == 70 && walk.count == 70)
        // 99.9 % of samples stay below 112.
        #expect(deviation(uniform, of: 7_000) < 112)
        #expect(deviation(walk, of: 7_000) > 500)
    }

    @Test("with priorities there are as many preemptions as changes, at most")
    func priorities() {
        let without = orders(1_000, [3, 3, 3]) { sampler, _ in sampler.method = RL_PRIORITIES }
        #expect(without.count == 6)
        let once = orders(5_000, [3, 3]) { sampler, random in
            sampler.method = RL_PRIORITIES
            sampler.change_count = 1
            sampler.changes.0 = 1 + rl_random_below(&random, 5)
        }
        #expect(Set(once.keys) == ["000111", "111000", "011100", "001110", "100011", "110001"])
        // The method's guarantee: 1 of 2 · 6 for each.
        #expect(once.values.allSatisfy { $0 > 5_000 / 12 })
    }

    @Test("a step that depends on the one before gets a new priority, another one keeps its own")
    func partialOrder() {
        let all = orders(2_000, [3, 3]) { sampler, _ in sampler.method = RL_PARTIAL_ORDER }
        #expect(all.count == 20)
    }
}
