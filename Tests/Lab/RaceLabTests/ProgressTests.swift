import Dispatch
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// The bounds of an exploration, and its progress reports.
@Suite("Bounds within the process", .needsTheLab)
struct ProgressTests {
    /// Two threads of some steps each on one counter, none of which are independent.
    private static func exploration(
        steps: Int, _ change: (inout Exploration.Options) -> Void
    ) -> Exploration {
        explore(options: .with(change)) { scenario in
            let counter = Counter()
            scenario.threads("left", "right") { for _ in 0..<steps { counter.value = 1 } }
        }
    }

    /// 12,870 interleavings.
    private static func many(_ change: (inout Exploration.Options) -> Void) -> Exploration {
        exploration(steps: 8) { options in
            options.reduction = false
            options.failingKinds = [.failedCheck]
            change(&options)
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
        let describe: (Scenario) -> Void = { scenario in
            let (shared, queue) = (Shared(), DispatchQueue(label: "q", attributes: .concurrent))
            scenario.thread("reader") { queue.sync { queue.sync { _ = shared.value } } }
            scenario.thread("writer") { queue.async(flags: .barrier) { shared.value += 1 } }
        }
        let all = explore(describe)
        #expect(all.coverage == .all && all.redundant > 0)
        let runs = all.explored + all.redundant - 1
        let bounded = explore(options: .with { $0.maximumRuns = runs }, describe)
        #expect(bounded.limit == .runs)
        #expect(bounded.explored + bounded.redundant == runs)
    }

    /// 924 interleavings.
    private static func bounded(
        at count: Int, _ change: (inout Exploration.Options) -> Void = { _ in }
    ) -> Exploration {
        exploration(steps: 6) { options in
            options.failingKinds = [.failedCheck]
            options.maximumInterleavings = count
            change(&options)
        }
    }

    @Test("what was covered when a bound is reached")
    func covered() throws {
        #expect(Self.bounded(at: 924).coverageSentences == [])
        for count in [10, 300, 700, 923] {
            let exploration = Self.bounded(at: count)
            let text = exploration.text()
            // A tree in which the parts of a node are about as large as one another.
            let about = try #require(
                text.firstMatch(of: /that is (about|less than) (\d+) % of all/))
            let percent = Double(about.2)!
            #expect(abs(percent - Double(count) / 9.24) < 15, "\(count): \(text)")
            #expect(text.contains("most alternatives come from ProgressTests.swift:"))
            #expect(text.contains("to learn more: fewer threads"))
        }
    }

    @Test("what is called complete has been explored")
    func complete() throws {
        for count in [3, 40, 500] {
            let exploration = Self.bounded(at: count)
            let sentence = try #require(
                exploration.coverageSentences.first { $0.hasPrefix("complete: ") })
            let beginning = try Exploration.Schedule(
                String(sentence.split(separator: " ").last!), threads: exploration.threads)
            // Of the 924, those that begin so: each chooses which of the other steps are left's.
            let (left, right) = (
                6 - beginning.choices.count { $0 == 0 }, 6 - beginning.choices.count { $0 == 1 }
            )
            let all = (0..<min(left, right)).reduce(1) { $0 * (left + right - $1) / ($1 + 1) }
            #expect((1...count).contains(all), "\(sentence)")
        }
    }

    @Test("without reduction, interleavings with fewer preemptions are complete")
    func preemptions() {
        // Without a preemption there are 2, with at most one 12, with at most two 62.
        for (count, words) in [
            (1, nil), (2, "without a preemption"), (11, "without a preemption"),
            (12, "with at most one preemption"), (62, "with at most 2 preemptions"),
        ] {
            let sentences = Self.bounded(at: count) { $0.reduction = false }.coverageSentences
            let complete = sentences.first { $0.hasPrefix("complete: ") }
            #expect(complete == words.map { "complete: all interleavings \($0)" }, "\(count)")
        }
    }

    /// A weak reference, which the first interleaving does not read, makes the exploration start
    /// over. The clock of this test is read when the exploration begins, for its end and for the
    /// time left, and then again when it starts over. Until then an hour has passed.
    @Test("the time includes what was explored before the exploration started over")
    func timeOfAll() {
        let looks = Mutex(0)
        let start = ContinuousClock.now
        var options = Exploration.Options()
        options.maximumInterleavings = 100_000
        options.maximumTime = .seconds(3600)
        options.now = {
            looks.withLock { looks in
                looks += 1
                return looks > 2 ? start + .seconds(3600) : start
            }
        }
        let exploration = explore(options: options) { scenario in
            let counter = Counter()
            let flag = Counter()
            scenario.thread("last") { flag.value = 1 }
            scenario.threads("first", "second", "third") { [weak weakly = counter] in
                if flag.value == 0 { weakly?.value += 1 }
                for _ in 0..<3 { counter.value += 1 }
            }
        }
        #expect(exploration.limit == .time)
        let text = exploration.text(width: .max)
        #expect(text.contains("; that includes runs before it started over, when"), "\(text)")
    }

    @Test("the first failure")
    func firstFailure() {
        let options = Exploration.Options.with { $0.stopsAtFirstFailure = true }
        let exploration = explore(options: options, Classic.lostUpdate.describe)
        #expect(exploration.failing == 1 && exploration.limit == .firstFailure)
        #expect(explore(Classic.lostUpdate.describe).failing > 1)
        #expect(Self.many { $0.stopsAtFirstFailure = true }.limit == nil)
    }

    @Test(
        "progress is reported once a second",
        arguments: [Exploration.Options.Isolation.none, .patient])
    func progress(isolation: Exploration.Options.Isolation) {
        let reported = Scenario.Log<Int>()
        let exploration = Self.exploration(steps: 10) { options in
            options.reduction = false
            options.isolation = isolation
            options.maximumTime = .milliseconds(2500)
            options.maximumInterleavings = .max
            options.progress = { reported.append($0.explored) }
        }
        #expect(exploration.limit == .time)
        #expect(exploration.coverage == .first(exploration.explored))
        let counts = reported.entries
        #expect(
            !counts.isEmpty && counts == counts.sorted() && counts.last! <= exploration.explored)
    }
}
