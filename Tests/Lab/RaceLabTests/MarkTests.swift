import Testing

@testable import RaceLab

/// The step from which every interleaving fails is marked wherever an interleaving is shown.
@Suite("The point of no return is marked", .needsTheLab)
struct MarkTests {
    private static func lostUpdate(_ scenario: Scenario) {
        let counter = Counter()
        scenario.threads("first", "second") { counter.value += counter.value < 9 ? 1 : 0 }
        let log = Scenario.Log<Int>()
        scenario.thread("third") { log.append(counter.value) }
        scenario.check { try Scenario.require(log.entries != [1], "seen in the middle") }
    }

    private let mark = "every continuation fails from here"

    @Test("a replay has the mark of the counterexample", arguments: [false, true])
    func replays(isolated: Bool) throws {
        var options = Exploration.Options()
        options.failingKinds = [.failedCheck]
        if isolated { options.isolation = .patient }
        let exploration = explore(options: options, Self.lostUpdate)
        let shown = try #require(
            try exploration.counterexample())
        let step = try #require(shown.steps.firstIndex { $0.mark == mark })
        let replayed = try Exploration.replay(shown.schedule, options: options, Self.lostUpdate)
        #expect(replayed.steps.map(\.mark) == shown.steps.map(\.mark))
        #expect(replayed.table() == shown.table())
        #expect(replayed.table().contains("← \(mark)"))
        let completed = try Exploration.replay(
            prefix: shown.schedule, options: options, Self.lostUpdate)
        #expect(completed.trace.steps[step].mark == mark)
    }

    @Test("an interleaving that passes has no mark, and the option turns marks off")
    func none() throws {
        var options = Exploration.Options()
        options.failingKinds = [.failedCheck]
        let exploration = explore(options: options, Self.lostUpdate)
        let passing = try Exploration.replay(prefix: "TT", options: options, Self.lostUpdate).trace
        #expect(passing.steps.allSatisfy { $0.mark != mark })
        options.marksPointOfNoReturn = false
        let failing = try #require(exploration.findings.first).schedule
        let unmarked = try Exploration.replay(failing, options: options, Self.lostUpdate)
        #expect(unmarked.steps.allSatisfy { $0.mark != mark })
    }

    @Test("a crash in another interleaving does not replace the interleaving that is replayed")
    func crashes() throws {
        let describe = { (scenario: Scenario) in
            let counter = Counter()
            scenario.thread("first") { counter.value = 1 }
            scenario.thread("second") { if counter.value == 1 { counter.value = 2 } }
            scenario.thread("third") { precondition(counter.value != 2) }
            scenario.check { try Scenario.require(counter.value == 2, "too early") }
        }
        var options = Exploration.Options()
        options.failingKinds = [.failedCheck, .crash]
        options.isolation = .patient
        let trace = try Exploration.replay("TSF", options: options, describe)
        #expect(trace.scheduleText == "TSF")
        #expect(trace.findings.contains { $0.kind == .failedCheck })
    }
}
