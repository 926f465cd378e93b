import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// A scenario that cannot run is inconclusive, with a sentence that explains why, and does not end
/// the process.
@Suite("A malformed scenario is inconclusive", .needsTheLab)
struct MalformedScenarioTests {
    /// A mistake, made next to a thread whose number of runs is known.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: String
        let make: @Sendable (Scenario) -> Void
    }

    static let mistakes: [Mistake] = [
        Mistake(testDescription: "33 threads", words: "'thread 33' is one too many") { scenario in
            for number in 2...34 { scenario.thread("thread \(number)") {} }
        },
        Mistake(testDescription: "two of one name", words: "two threads called 'same'") {
            $0.thread("same") {}
            $0.thread("same") {}
        },
        Mistake(testDescription: "a queue's worker is one too many", words: "'queue 32'") {
            _ = $0.queue("queue", workers: 1_000_000_000)
        },
        Mistake(testDescription: "a queue without workers", words: "'queue' has no workers") {
            _ = $0.queue("queue", workers: 0)
        },
        Mistake(testDescription: "an outcome twice", words: "outcome '1' is declared twice") {
            $0.expect("1", .acceptable, "all is well")
            $0.expect("1", .forbidden, "nothing is")
        },
    ]

    @Test(
        "before the threads begin", arguments: mistakes,
        [Exploration.Options.Isolation.none, .patient])
    func inDescription(mistake: Mistake, isolation: Exploration.Options.Isolation) {
        let options = Exploration.Options.with { $0.isolation = isolation }
        let hasRun = Mutex(false)
        let describe: (Scenario) -> Void = { scenario in
            let counter = Counter()
            scenario.thread("thread 1") {
                hasRun.withLock { $0 = true }
                counter.value = 1
            }
            mistake.make(scenario)
        }
        let exploration = explore(options: options, describe)
        expect(exploration.inconclusive, mistake.words)
        #expect(!exploration.survives && exploration.explored == 0)
        #expect(exploration.text().hasPrefix("no verdict: the "))
        // Whether the text is a valid schedule or not.
        for schedule in ["A", "?", ""] {
            expect(throws: mistake.words) {
                try Exploration.replay(schedule, options: options, describe)
            }
            expect(throws: mistake.words) {
                try Exploration.replay(prefix: schedule, options: options, describe)
            }
        }
        expect(throws: mistake.words) {
            try Exploration.replay(Exploration.Schedule([0]), options: options, describe)
        }
        #expect(!hasRun.withLock { $0 })
    }

    @Test("when they run", arguments: [Exploration.Options.Isolation.none, .patient])
    func inBody(isolation: Exploration.Options.Isolation) {
        let options = Exploration.Options.with { $0.isolation = isolation }
        let adds: [(Scenario) -> Void] = [
            { $0.thread("late") {} },
            { _ = $0.queue("late") },
        ]
        for add in adds {
            let describe: (Scenario) -> Void = { scenario in
                let counter = Counter()
                scenario.thread("first") {
                    counter.value = 1
                    add(scenario)
                }
                scenario.thread("second") { counter.value = 2 }
            }
            expect(explore(options: options, describe).inconclusive, "'late' is added when")
            expect(throws: "'late' is added when") {
                try Exploration.replay("FS", options: options, describe)
            }
        }
    }

    @Test("without threads, whatever the schedule", arguments: ["A", "?", ""])
    func noThreads(schedule: String) {
        #expect(explore { _ in }.inconclusive == .noThreads)
        #expect(throws: Exploration.ReplayError.inconclusive(.noThreads)) {
            try Exploration.replay(schedule) { _ in }
        }
        #expect(throws: Exploration.ReplayError.inconclusive(.noThreads)) {
            try Exploration.replay(prefix: schedule) { _ in }
        }
    }

    private func expect(throws words: String, _ replay: () throws -> Any) {
        let error = #expect(throws: Exploration.ReplayError.self) { _ = try replay() }
        expect(error?.inconclusive, words)
    }

    private func expect(_ inconclusive: Exploration.Inconclusive?, _ words: String) {
        guard case .malformedScenario(let what) = inconclusive else {
            Issue.record("\(String(describing: inconclusive))")
            return
        }
        #expect(what.contains(words), "\(what)")
    }
}
