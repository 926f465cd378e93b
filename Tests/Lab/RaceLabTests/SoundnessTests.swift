import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// The lab's claims hold for the lab itself.
@Suite("The lab is sound", .needsTheLab)
struct SoundnessTests {
    // MARK: Memory

    @Test("nothing of an exploration is left when its result is gone")
    func nothingIsLeft() throws {
        final class Described {
            var value = 0
        }
        weak var described: Described?
        do {
            let object = Described()
            described = object
            let exploration = explore { scenario in
                scenario.threads("first", "second") { object.value += 1 }
                scenario.state("value") { "\(object.value)" }
            }
            _ = try exploration.replay("FS")
            try Recorder(exploration).visitKinds { _ in true }
        }
        #expect(described == nil)
    }

    private final class Lazy: @unchecked Sendable {
        lazy var number = 5
        var last = 0
    }

    @Test("a trace has no states if reading them changes what happens")
    func readingChanges() throws {
        let exploration = explore { scenario in
            let object = Lazy()
            scenario.threads("first", "second") { object.last = object.number }
            scenario.state("number") { "\(object.number)" }
        }
        #expect(exploration.explored > 1 && !exploration.findings.isEmpty)
        for finding in exploration.findings {
            let trace = try #require(try exploration.counterexample(showing: finding))
            #expect(trace.schedule == finding.schedule)
            #expect(trace.findings.map(\.description).contains(finding.description))
            #expect(trace.columns.isEmpty && trace.initial.isEmpty)
        }
    }

    /// The object of a set-up, one of a thread, and arrays of several sizes, each one as it grows.
    private static func addresses(in scenario: Scenario) -> [Scenario.Log<[UInt]>] {
        final class Object {
            let value = Mutex(0)
        }
        func address(_ object: AnyObject) -> UInt {
            UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        }
        let logs = [Scenario.Log<[UInt]>(), Scenario.Log<[UInt]>()]
        let first = Object()
        logs[0].append([address(first)])
        scenario.thread("first") {
            first.value.withLock { $0 += 1 }
            var seen = [address(Object())]
            var grows: [UInt] = []
            while grows.count < 2_000 {
                grows.append(1)
                grows.withUnsafeBytes { seen.append(UInt(bitPattern: $0.baseAddress)) }
            }
            logs[1].append(seen)
        }
        scenario.threads("second", "third") { first.value.withLock { $0 += 1 } }
        return logs
    }

    @Test("objects have the same addresses in each run, whatever the lab keeps between the runs")
    func addresses() {
        var kept: [AnyObject] = []
        var seen: [Set<[UInt]>] = [[], []]
        var count = 0
        func exploreOnce() -> Exploration {
            explore { scenario in
                let logs = Self.addresses(in: scenario)
                scenario.check {
                    final class Kept {}
                    for _ in 0..<7 { kept.append(Kept()) }
                    count += 1
                    for (k, log) in logs.enumerated() {
                        seen[k].formUnion(log.entries.map { addresses in addresses.map(\.self) })
                    }
                }
            }
        }
        // What the runtime makes at its first use is in the way of the first runs.
        #expect(exploreOnce().survives)
        seen = [[], []]
        #expect(exploreOnce().survives)
        #expect(count > 10 && kept.count == 7 * count)
        #expect(seen.map(\.count) == [1, 1])
    }

    // MARK: Reduction

    /// With and without reduction, the smallest counterexamples are the same, and can be replayed.
    @Test(
        "a classic has its known result, with and without reduction",
        arguments: Classic.all + reducible)
    func reduction(of classic: Classic) throws {
        let full = classic.exploration()
        let reduced = classic.exploration { $0.reduction = true }
        #expect(reduced.coverage == .all && full.coverage == .all)
        #expect(reduced.inconclusive == nil && full.inconclusive == nil)
        let kind = full.findings.first?.kind
        #expect((kind.map { .fails($0) } ?? .survives) == classic.expected, "\(full.text())")
        #expect(reduced.explored <= full.explored)
        #expect(Set(reduced.outcomes.keys) == Set(full.outcomes.keys))
        #expect(findings(reduced) == findings(full))
        #expect(reduced.survives == full.survives)
        for finding in full.findings {
            let same = reduced.findings.first { $0.description == finding.description }
            #expect(same?.schedule.switches == finding.schedule.switches)
            #expect(same?.schedule.choices.count == finding.schedule.choices.count)
            let text = finding.schedule.text(threads: full.threads)
            let trace = try Exploration.replay(text, classic.describe)
            #expect(trace.schedule == finding.schedule)
            #expect(
                trace.findings.contains { $0.kind == finding.kind && $0.reason == finding.reason })
        }
    }

    private func findings(_ exploration: Exploration) -> Set<String> {
        Set(exploration.findings.map(\.description))
    }

    /// Patterns that could expose an unsound reduction, and that no classic contains.
    static let reducible: [Classic] = [
        Classic("steps before the overlap", .fails(.overlap)) { scenario in
            let (shared, first, second) = (Counter(), Counter(), Counter())
            scenario.thread("first") {
                first.increment()
                shared.increment()
            }
            scenario.thread("second") {
                second.increment()
                shared.increment()
            }
        },
        Classic("three threads, one variable", .fails(.overlap)) { scenario in
            let shared = Counter()
            let log = Scenario.Log<Int>()
            scenario.threads("first", "second", "third") {
                shared.increment()
                log.append(shared.value)
            }
            scenario.outcome { "\(log.entries)" }
        },
    ]

    // MARK: Determinism

    @Test(
        "the same report, table and counts twenty times",
        arguments: [
            Classic.lostUpdate, .storeBuffering, .ticketLockInTwoSteps, .petersonWithoutTurn,
            .threePhilosophers,
            Classic("two tasks on an actor", .fails(.deadlock), waitForActor),
        ], [true, false])
    func isDeterministic(_ classic: Classic, reduces: Bool) throws {
        var texts: Set<String> = []
        for _ in 0..<20 {
            let exploration = classic.exploration { $0.reduction = reduces }
            let trace = try exploration.counterexample()
            texts.insert(
                exploration.text() + exploration.json + (trace.map { $0.table() + $0.json } ?? ""))
        }
        #expect(texts.count == 1)
    }

    // MARK: What it refuses

    @Test(
        "a malformed schedule is refused, with the reason",
        arguments: [
            ("F?S", "'?'"), ("F0S", "'F0'"), ("3F", "'3'"), ("F--", "'-'"),
            ("F99999999999999999999", "no number"),
        ])
    func malformed(schedule: String, words: String) {
        let error = refusal {
            try Exploration.replay(schedule, Classic.lostUpdate.describe)
        }?.malformed
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test(
        "a schedule that does not fit is refused with the step",
        arguments: [
            ("FSS", 4, "ends after 3 steps, but"),
            ("F", 2, "ends after 1 step, but"),
            ("", 1, "ends after 0 steps, but"),
            ("FFF", 3, "'first', but that thread has ended"),
            ("FFSSS", 5, "every thread has ended"),
        ])
    func mismatch(schedule: String, step: Int, words: String) {
        let error = refusal {
            try Exploration.replay(schedule, Classic.lostUpdate.describe)
        }?.mismatch
        #expect(error?.step == step)
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test(
        "a schedule with a number of no thread is refused with the step",
        arguments: [-1, 2, 8, 31, 32, 33, 128, 256])
    func misfitOfNobody(thread: Int) {
        let error = refusal {
            try Exploration.replay(Exploration.Schedule([0, thread]), Classic.lostUpdate.describe)
        }?.mismatch
        #expect(error?.step == 2)
    }

    @Test("a schedule that violates a lock is refused with the step")
    func misfitAtLock() {
        let error = refusal {
            try Exploration.replay("PPZ", Classic.twoOrderedPhilosophers.describe)
        }?.mismatch
        #expect(error?.step == 2 || error?.step == 3, "\(error?.description ?? "")")
    }

    // MARK: Scenarios that are no good

    @Test("has its known result", arguments: programs + depending)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram(
            "an uncaught error is a finding with its description", .uncaughtError,
            alwaysFails: true, sentence: "'first' threw enough",
            options: .with { $0.failingKinds = [.uncaughtError] }
        ) { scenario in
            let counter = Counter()
            scenario.thread("first") {
                counter.increment()
                throw Scenario.CheckFailure("enough")
            }
            scenario.thread("second") { counter.increment() }
        }
    ]

    /// Scenarios that depend on the state left by an earlier run.
    private static let depending =
        [2, 3, 4, 100].map { period in
            KnownProgram("steps with a period of \(period) runs", noVerdict: notDeterministic) {
                count($0, period: period)
            }
        } + [
            KnownProgram("steps that are the same in all runs", .overlap) { count($0, period: 1) },
            KnownProgram("an outcome of its own in each run", noVerdict: notDeterministic) {
                scenario in
                let run = runs.add(1, ordering: .relaxed).newValue
                let counter = Counter()
                scenario.thread("first") { counter.value = 1 }
                scenario.thread("second") { counter.value = 2 }
                scenario.outcome { "\(run)" }
            },
        ]

    private static let notDeterministic = "the scenario depends on something other than its threads"
    private static let runs = Atomic(0)

    private static func count(_ scenario: Scenario, period: Int) {
        let run = runs.add(1, ordering: .relaxed).newValue
        let counter = Counter()
        scenario.thread("first") { for _ in 0..<(2 + run % period) { counter.value = 1 } }
        scenario.thread("second") { for _ in 0..<2 { counter.value = 2 } }
    }

    @Test("an error without a description is a finding that says so")
    func wordlessError() {
        let describe = { (scenario: Scenario) in
            let counter = Counter()
            scenario.thread("first") {
                counter.value = 1
                throw Scenario.CheckFailure("")
            }
            scenario.check { throw Scenario.CheckFailure("") }
        }
        let exploration = explore(describe)
        #expect(
            exploration.findings.map(\.reason) == [
                "an error without a description", "'first' threw an error without a description",
            ])
    }

    @Test("a thread without steps is reported, with what to look for, on three lines")
    func vacuousWords() {
        let exploration = explore { scenario in
            scenario.thread("first") {}
            scenario.thread("second") { Scenario.Log<Int>().append(1) }
        }
        #expect(exploration.inconclusive == .sawNothing(thread: "first"))
        #expect(!exploration.survives)
        let lines = exploration.text().split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.count <= 100 }, "\(exploration.text())")
        #expect(exploration.summary.hasSuffix("in a target compiled with -sanitize=thread?"))
    }

    @Test("a nested exploration is refused, and does not wait for itself")
    func withinAnother() {
        let inner = Mutex<Set<Exploration.Inconclusive?>>([])
        let explores: @Sendable () -> Void = {
            let exploration = explore { scenario in
                let counter = Counter()
                scenario.thread("inner") { counter.increment() }
            }
            inner.withLock { _ = $0.insert(exploration.inconclusive) }
        }
        let exploration = explore { scenario in
            explores()
            let counter = Counter()
            scenario.thread("outer") {
                counter.increment()
                explores()
            }
            scenario.check { explores() }
        }
        #expect(exploration.inconclusive == nil, "\(exploration.summary)")
        #expect(inner.withLock { $0.count } == 1)
        #expect(
            inner.withLock { $0.first }??.description.contains("one exploration within another")
                == true)
    }
}

/// Incomplete schedules, with which an execution begins.
@Suite("Schedule prefixes", .needsTheLab)
struct BeginningTests {
    private static let describe = Classic.lostUpdate.describe

    @Test(
        "after the prefix, the threads run to their ends, the first one first",
        arguments: [
            ("F", "FFSS", true), ("FS", "FSFS", false), ("S", "SFFS", false), ("SS", "SSFF", true),
            ("FSSF", "FSSF", false),
        ])
    func carriedOn(beginning: String, whole: String, holds: Bool) throws {
        let completed = try Exploration.replay(prefix: beginning, Self.describe)
        #expect(completed.trace.scheduleText == whole)
        #expect(completed.mismatch == nil)
        #expect(completed.trace.findings.allSatisfy { $0.kind != .failedCheck } == holds)
    }

    @Test("with an empty prefix the threads run one after the other")
    func nothing() throws {
        let completed = try Exploration.replay(prefix: Exploration.Schedule([]), Self.describe)
        #expect(completed.trace.scheduleText == "FFSS")
    }

    @Test(
        "a prefix that does not fit is followed up to the mismatch, which is reported",
        arguments: [("FFF", 3, "FFSS"), ("SFFFS", 4, "SFFS"), ("FFSSS", 5, "FFSS")])
    func mismatch(beginning: String, step: Int, whole: String) throws {
        let completed = try Exploration.replay(prefix: beginning, Self.describe)
        #expect(completed.mismatch?.step == step)
        #expect(completed.trace.scheduleText == whole)
    }

    @Test("a text that is not a schedule is refused")
    func malformed() {
        let error = refusal { try Exploration.replay(prefix: "F?", Self.describe) }
        #expect(error?.malformed != nil)
    }
}
