import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// The bounds of an exploration, and its progress reports.
@Suite("Bounds within the process", .needsTheLab)
struct ProgressTests {
    /// Two threads of eight steps each on one counter: 12,870 interleavings without reduction.
    private static func many(_ change: (inout Exploration.Options) -> Void) -> Exploration {
        var options = Exploration.Options()
        options.reduction = false
        options.failingKinds = [.failedCheck]
        change(&options)
        return explore(options: options) { scenario in
            let counter = Counter()
            for name in ["left", "right"] {
                scenario.thread(name) { for _ in 0..<8 { counter.value = 1 } }
            }
        }
    }

    @Test("the number of runs")
    func runs() {
        let exploration = Self.many { $0.maximumRuns = 10 }
        #expect(
            exploration.explored == 10 && exploration.coverage == .first(10)
                && exploration.limit == .runs)
        #expect(exploration.text().contains("maximumRuns was reached"))
    }

    @Test("runs that repeat an interleaving count as runs")
    func redundantRuns() {
        // Attempts to take a lock are explored with sleep sets alone.
        var options = Exploration.Options()
        options.reduction = true
        let describe: (Scenario) -> Void = { scenario in
            let (lock, counters) = (Box(Mutex(0)), [Counter(), Counter()])
            for (index, counter) in counters.enumerated() {
                scenario.thread("\(index)") {
                    for _ in 0..<3 { counter.value = 1 }
                    _ = lock.value.withLockIfAvailable { $0 += 1 }
                }
            }
        }
        let all = explore(options: options, describe)
        #expect(all.coverage == .all && all.redundant > 0)
        options.maximumRuns = all.explored + all.redundant - 1
        let bounded = explore(options: options, describe)
        #expect(bounded.limit == .runs)
        #expect(bounded.explored + bounded.redundant == all.explored + all.redundant - 1)
    }

    @Test("time")
    func time() {
        let exploration = Self.many { $0.maximumTime = .milliseconds(1) }
        #expect(exploration.limit == .time && exploration.explored < 12_870)
        #expect(exploration.coverage == .first(exploration.explored))
    }

    /// The clock of this test moves an hour each time that it is read. A weak reference, which the
    /// first interleaving does not read, makes the exploration start over.
    @Test("the time includes what was explored before the exploration started over")
    func timeOfAll() {
        let hours = Mutex(0)
        let start = ContinuousClock.now
        var options = Exploration.Options()
        options.maximumInterleavings = .max
        options.maximumTime = .seconds(3600)
        options.now = {
            hours.withLock { hours in
                hours += 1
                return start + .seconds(3600 * hours)
            }
        }
        let exploration = explore(options: options) { scenario in
            let counter = Counter()
            let flag = Counter()
            scenario.thread("last") { flag.value = 1 }
            for name in ["first", "second", "third"] {
                scenario.thread(name) { [weak weakly = counter] in
                    if flag.value == 0 { weakly?.value += 1 }
                    for _ in 0..<6 { counter.value += 1 }
                }
            }
        }
        #expect(exploration.limit == .time)
    }

    @Test("the first failure")
    func firstFailure() {
        var options = Exploration.Options()
        options.stopsAtFirstFailure = true
        let exploration = explore(options: options, Classic.lostUpdate.describe)
        #expect(exploration.failing == 1 && exploration.limit == .firstFailure)
        #expect(explore(Classic.lostUpdate.describe).failing > 1)
        #expect(Self.many { $0.stopsAtFirstFailure = true }.limit == nil)
    }

    @Test(
        "progress is reported once a second",
        arguments: [Exploration.Options.Isolation.none, .childProcess()])
    func progress(isolation: Exploration.Options.Isolation) {
        let reported = Scenario.Log<Int>()
        var options = Exploration.Options()
        options.reduction = false
        options.isolation = isolation
        options.maximumTime = .milliseconds(2500)
        options.maximumInterleavings = .max
        options.progress = { reported.append($0.explored) }
        let exploration = explore(options: options) { scenario in
            let counter = Counter()
            for name in ["left", "right"] {
                scenario.thread(name) { for _ in 0..<10 { counter.value = 1 } }
            }
        }
        #expect(exploration.limit == .time)
        let counts = reported.entries
        #expect(
            !counts.isEmpty && counts == counts.sorted() && counts.last! <= exploration.explored)
    }
}
