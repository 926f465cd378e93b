import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// The meaning of a verdict, and the remarks that accompany it.
@Suite("Verdicts", .needsTheLab)
struct VerdictTests {
    // MARK: Write against write

    private static let overwriting = Classic("overwriting", .fails(.overlap)) { scenario in
        let counter = Counter()
        scenario.thread("first") { counter.value = 1 }
        scenario.thread("second") { counter.value = 2 }
    }

    @Test("two unordered writes are a data race, even if overlaps do not count")
    func writeAgainstWrite() throws {
        let options = Exploration.Options.with { $0.failingKinds = [.dataRace] }
        let exploration = explore(options: options, Self.overwriting.describe)
        #expect(!exploration.survives && exploration.failing == 2 && exploration.explored == 2)
        #expect(
            exploration.findings.map(\.kind) == [.dataRace] && exploration.otherFindings.isEmpty)
        #expect(exploration.findings.first?.reason.hasPrefix("nothing orders") == true)
        let trace = try #require(
            try exploration.counterexample())
        #expect(trace.findings.map(\.kind) == [.dataRace])
        #expect(trace.steps[1].mark != nil, "\(trace.table())")
    }

    @Test("they are a data race in a child process, and when they are judged afterwards")
    func writeAgainstWriteElsewhere() {
        var options = Exploration.Options()
        options.failingKinds = [.dataRace]
        options.isolation = .patient
        let exploration = explore(options: options, Self.overwriting.describe)
        #expect(exploration.findings.map(\.kind) == [.dataRace] && exploration.failing == 2)
        options.failingKinds = Set(Exploration.Finding.Kind.allCases)
        let other = explore(options: options, Self.overwriting.describe).countingAsFailures([
            .dataRace
        ])
        #expect(other.findings.map(\.kind) == [.dataRace] && other.failing == 2)
        #expect(other.countingAsFailures([.deadlock]).failing == 0)
        #expect(other.countingAsFailures([.overlap]).findings.map(\.kind) == [.overlap])
    }

    // MARK: Remarks beside a verdict

    @Test("the report lists the kinds of finding that count as failures")
    func judged() {
        let describe = Classic.lostUpdate.describe
        let all = explore(describe)
        #expect(all.text().contains("counted as failures: findings of every kind"))
        let some = explore(
            options: .with { $0.failingKinds = [.deadlock, .failedCheck] }, describe)
        let words = "counted as failures: failed check, deadlock, nothing else"
        #expect(some.text().contains(words), "\(some.text())")
        let json = some.json.filter { !$0.isWhitespace }
        #expect(json.contains("\"failingKinds\":[\"failedCheck\",\"deadlock\"]"), "\(some.json)")
        #expect(some.count(of: .dataRace) > 0)
        #expect(some.count(of: .dataRace) == all.count(of: .dataRace))
    }

    // MARK: Small things

    @Test("a thread that only appends to a log counts as observed")
    func onlyNotes() {
        KnownProgram("notes", outcomes: ["[1, 2]", "[2, 1]"], explored: 2...2) { scenario in
            let log = Scenario.Log<Int>()
            scenario.thread("first") { log.append(1) }
            scenario.thread("second") { log.append(2) }
            scenario.outcome { "\(log.entries)" }
        }.check()
    }

    @Test("a deadlock before the first step has a schedule, which can be replayed")
    func deadlockAtOnce() throws {
        let describe: (Scenario) -> Void = { scenario in
            let semaphore = DispatchSemaphore(value: 0)
            scenario.threads("first", "second") { semaphore.wait() }
        }
        let exploration = explore(describe)
        let finding = try #require(exploration.findings.first)
        #expect(finding.kind == .deadlock && finding.schedule.choices.isEmpty)
        let text = finding.schedule.text(threads: exploration.threads)
        let trace = try Exploration.replay(text, describe)
        #expect(trace.findings.first?.kind == .deadlock && trace.steps.isEmpty)
        #expect(trace.waiting.map(\.cause) == [.semaphore, .semaphore])
        #expect(
            try Exploration.replay(Exploration.Schedule([]), describe).findings.first?.kind
                == .deadlock)
        #expect(try exploration.counterexample()?.scheduleText == text)
        #expect(exploration.text().contains("deadlock   1  \"\""), "\(exploration.text())")
    }

    /// An object whose `deinit` requires that it has been used, as some promises do.
    private final class Promised {
        private let lock = NSLock()
        private var isKept = false
        func keep() { lock.withLock { isKept = true } }
        deinit { precondition(isKept) }
    }

    @Test("an exploration replays a text, and sets nothing up that is not used")
    func setsUpOnce() throws {
        let exploration = explore { scenario in
            let (promised, shared) = (Promised(), Counter())
            scenario.thread("keeps") {
                promised.keep()
                shared.value += 1
            }
            scenario.thread("other") { shared.value += 1 }
        }
        let found = try #require(try exploration.counterexample())
        let replayed = try exploration.replay(found.scheduleText)
        #expect(replayed.steps.map(\.text) == found.steps.map(\.text))
        #expect(throws: Exploration.ReplayError.self) { try exploration.replay("?") }
    }
}
