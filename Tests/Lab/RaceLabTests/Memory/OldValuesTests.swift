import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Steps that read old values, in everything that the lab shows and takes.
@Suite("Old values", .needsTheLab)
struct OldValuesTests {
    /// Both threads store, and then read what the other one stores.
    private static let bothReadZero: @Sendable (Scenario) -> Void = { scenario in
        let memory = StoreBuffering()
        let read = [Counter(), Counter()]
        scenario.thread("left") { read[0].value = memory.left() }
        scenario.thread("right") { read[1].value = memory.right() }
        scenario.outcome { "\(read[0].value), \(read[1].value)" }
        scenario.expect("0, 0", .forbidden, "neither saw the other one")
        for other in ["0, 1", "1, 0", "1, 1"] {
            scenario.expect(other, .acceptable, "one of them saw the other one")
        }
    }

    private static func explored(
        _ change: (inout Exploration.Options) -> Void = { _ in }
    ) -> Exploration {
        explore(options: .with(change), bothReadZero)
    }

    @Test("the options can exclude them")
    func options() {
        let all = Self.explored()
        #expect(all.outcomes.count == 4 && all.memory == .weak && all.hasWeakOrderings)
        let strict = Self.explored { $0.memory = .sequentiallyConsistent }
        #expect(strict.outcomes.count == 3 && strict.memory == .sequentiallyConsistent)
        #expect(strict.survives && strict.hasWeakOrderings)
    }

    @Test("the smallest counterexample has one, and says what was missed")
    func counterexample() throws {
        let trace = try #require(try Self.explored().counterexample())
        let old = trace.steps.compactMap(\.old)
        #expect(old.count == 1 && old.first?.value == 0 && old.first?.number == 0)
        let line = try #require(old.first?.missed?.line)
        let remark =
            "reads the old value 0: nothing orders the store at line \(line) before this read"
        let step = try #require(trace.steps.firstIndex { $0.old != nil })
        #expect(trace.steps[step].remark(threads: trace.threads) == remark)
        let table = trace.table()
        #expect(table.contains("Step \(step + 1) \(remark)."), "\(table)")
        #expect(table.contains("old value 0\n"), "\(table)")
        #expect(table.contains("Either of these"), "\(table)")
        #expect(trace.json.contains("\"missedLine\" : \(line)"), "\(trace.json)")
        #expect(trace.json.contains("\"oldValue\" : 0"))
        #expect(trace.markdown.contains("Either of these orders it"))
    }

    @Test("an interleaving that needs none is shown without")
    func none() throws {
        let exploration = explore { scenario in
            let memory = StoreBuffering()
            let read = Counter()
            scenario.thread("left") { read.value = memory.left() }
            scenario.thread("right") { memory.y.store(1, ordering: .relaxed) }
            scenario.outcome { "\(read.value)" }
            scenario.expect("0", .forbidden, "left was too early")
            scenario.expect("1", .acceptable, "left was late")
        }
        let trace = try #require(try exploration.counterexample())
        #expect(trace.steps.allSatisfy { $0.old == nil }, "\(trace.table())")
    }

    @Test("a schedule names them, in text and in JSON")
    func schedule() throws {
        let exploration = Self.explored()
        let schedule = try #require(exploration.findings.first?.schedule)
        let text = schedule.text(threads: exploration.threads)
        #expect(text.contains("~0"), "\(text)")
        #expect(try Exploration.Schedule(text, threads: exploration.threads) == schedule)
        let trace = try exploration.replay(text)
        #expect(trace.scheduleText == text && trace.findings.map(\.kind) == [.forbiddenOutcome])
        let newest = try exploration.replay(text.replacing("~0", with: ""))
        #expect(newest.findings.isEmpty && newest.scheduleText != text)
    }

    @Test("a schedule cannot ask for a value that the model does not allow")
    func mismatch() throws {
        let exploration = Self.explored()
        let text = try #require(exploration.findings.first?.schedule)
            .text(threads: exploration.threads)
        refusal { try exploration.replay(text.replacing("~0", with: "~7")) }
        refusal { try exploration.replay(text.replacing("~0", with: "~")) }
        let options = Exploration.Options.with { $0.memory = .sequentiallyConsistent }
        refusal { try Exploration.replay(text, options: options, Self.bothReadZero) }
    }

    @Test("a run that begins with one can be completed and continued")
    func beginning() throws {
        let exploration = Self.explored()
        let schedule = try #require(exploration.findings.first?.schedule)
        let step = try #require(schedule.marks.keys.first)
        let beginning = Exploration.Schedule(
            Array(schedule.choices.prefix(step + 1)), marks: schedule.marks)
        let completed = try exploration.replay(prefix: beginning)
        #expect(completed.mismatch == nil && completed.trace.steps[step].old?.value == 0)
    }

    @Test("a crash after one is reported once")
    func crash() {
        let options = Exploration.Options.with {
            $0.isolation = .patient
            $0.failingKinds = [.crash]
        }
        let exploration = explore(options: options) { scenario in
            let (page, isPosted) = (Box(Atomic(0)), Box(Atomic(false)))
            scenario.thread("writer") {
                page.value.store(1, ordering: .relaxed)
                isPosted.value.store(true, ordering: .relaxed)
            }
            scenario.thread("reader") {
                guard isPosted.value.load(ordering: .relaxed) else { return }
                precondition(page.value.load(ordering: .relaxed) == 1)
            }
        }
        #expect(exploration.failing == 1 && exploration.coverage == .all, "\(exploration.text())")
        #expect(exploration.findings.first?.schedule.marks.count == 1)
    }

    @Test("a bound of preemptions counts them as no preemption")
    func bounded() {
        let exploration = Self.explored { $0.preemptionBound = 0 }
        #expect(exploration.coverage == .atMost(preemptions: 0))
        #expect(exploration.outcomes["0, 0", default: 0] > 0)
    }

    @Test("sampling draws them, and the same ones again")
    func sampled() {
        func drawn(_ method: Exploration.Options.Sampling) -> Exploration {
            Self.explored { $0.strategy = .sampled(method, runs: 300, seed: 7) }
        }
        for method: Exploration.Options.Sampling in [
            .randomWalk, .pct(depth: 3), .partialOrder, .selectivelyUniform,
        ] {
            let exploration = drawn(method)
            #expect(exploration.outcomes.count == 4, "\(method): \(exploration.outcomes)")
            #expect(exploration.json == drawn(method).json)
            #expect(exploration.redundant == 0)
        }
    }

    // MARK: Operations

    @Test("a `subtract` never reads an old value, and a load may miss what it stores")
    func subtracting() throws {
        let exploration = explore { scenario in
            let (count, isDone) = (Box(Atomic(3)), Box(Atomic(false)))
            let read = Counter()
            scenario.thread("one") {
                count.value.subtract(1, ordering: .relaxed)
                isDone.value.store(true, ordering: .relaxed)
            }
            scenario.thread("other") {
                guard isDone.value.load(ordering: .relaxed) else { return }
                read.value = count.value.load(ordering: .relaxed)
                let left = count.value.subtract(1, ordering: .relaxed).newValue
                precondition(left == 1)
            }
            scenario.check { try Scenario.require(read.value != 3, "three are left") }
        }
        #expect(exploration.findings.count == 1, "\(exploration.text())")
        let trace = try #require(try exploration.counterexample())
        let step = try #require(trace.steps.first { $0.old != nil })
        let subtraction = try #require(trace.steps.first { $0.kind == .exchange })
        #expect(step.old?.value == 3 && step.old?.missed?.line == subtraction.site?.line)
    }

    @Test("has its known result", arguments: widths + loops)
    func known(_ program: KnownProgram) { program.check() }

    /// Message passing without any ordering.
    private static let widths = [
        passing("a byte", Int8(0), 1) { page, value in
            page.store(value, ordering: .relaxed)
        } load: {
            $0.load(ordering: .relaxed)
        },
        passing("two bytes", Int16(0), 1) { page, value in
            page.store(value, ordering: .relaxed)
        } load: {
            $0.load(ordering: .relaxed)
        },
        passing("four bytes", Int32(0), 1) { page, value in
            page.store(value, ordering: .relaxed)
        } load: {
            $0.load(ordering: .relaxed)
        },
        passing("sixteen bytes", WordPair(first: 0, second: 0), WordPair(first: 0, second: 1)) {
            page, value in
            page.store(value, ordering: .relaxed)
        } load: {
            $0.load(ordering: .relaxed)
        },
        KnownProgram(
            "an `AtomicLazyReference` may seem to be empty",
            outcomes: ["too early", "empty", "made"]
        ) { scenario in
            let made = Box(AtomicLazyReference<Made>())
            let isMade = Box(Atomic(false))
            var seen = "too early"
            scenario.thread("maker") {
                _ = made.value.storeIfNil(Made())
                isMade.value.store(true, ordering: .relaxed)
            }
            scenario.thread("user") {
                if isMade.value.load(ordering: .relaxed) {
                    seen = made.value.load() == nil ? "empty" : "made"
                }
            }
            scenario.outcome { seen }
        },
        KnownProgram(
            "an `AtomicLazyReference` keeps the first object, and the other one counts its end",
            outcomes: ["1", "2"], everyOrder: true
        ) { scenario in
            let (kept, ended) = (Box(AtomicLazyReference<CountsItsEnd>()), Ended())
            var number = 0
            scenario.thread("first") { _ = kept.value.storeIfNil(CountsItsEnd(1, ended)) }
            scenario.thread("second") {
                number = kept.value.storeIfNil(CountsItsEnd(2, ended)).number
            }
            scenario.outcome { "\(number)" }
        },
        KnownProgram(
            "beside a thread that is started and does nothing", outcomes: ["0", "1"],
            options: .isolated
        ) { scenario in
            let count = Box(Atomic(0))
            var seen = 0
            scenario.thread("starter") { Thread.detachNewThread {} }
            scenario.thread("writer") { count.value.add(1, ordering: .relaxed) }
            scenario.thread("reader") { seen = count.value.load(ordering: .relaxed) }
            scenario.outcome { "\(seen)" }
        },
        KnownProgram(
            "after a weak reference whose object is gone",
            outcomes: ["there 0", "there 1", "gone 0", "gone 1"], everyOrder: true
        ) { scenario in
            let (owner, page, observer) = (Owner(Made()), Box(Atomic(0)), Observer())
            observer.made = owner.made
            var seen = ""
            scenario.thread("owner") {
                page.value.store(1, ordering: .relaxed)
                owner.made = nil
            }
            scenario.thread("observer") {
                let isThere = observer.made != nil
                seen = "\(isThere ? "there" : "gone") \(page.value.load(ordering: .relaxed))"
            }
            scenario.outcome { seen }
        },
    ]

    private final class Owner: @unchecked Sendable {
        var made: Made?
        init(_ made: Made?) { self.made = made }
    }

    private final class Observer: @unchecked Sendable { weak var made: Made? }

    private final class Ended: Sendable { let count = Atomic(0) }

    private final class CountsItsEnd: Sendable {
        let number: Int
        let ended: Ended

        init(_ number: Int, _ ended: Ended) { (self.number, self.ended) = (number, ended) }

        deinit { ended.count.add(1, ordering: .relaxed) }
    }

    private static func passing<Value: AtomicRepresentable & Equatable & Sendable>(
        _ description: String, _ old: Value, _ new: Value,
        store: @escaping @Sendable (borrowing Atomic<Value>, Value) -> Void,
        load: @escaping @Sendable (borrowing Atomic<Value>) -> Value
    ) -> KnownProgram {
        KnownProgram(description, outcomes: ["early", "old", "new"]) { scenario in
            let (page, isPosted) = (Box(Atomic(old)), Box(Atomic(false)))
            store(page.value, old)
            var seen = "early"
            scenario.thread("writer") {
                store(page.value, new)
                isPosted.value.store(true, ordering: .relaxed)
            }
            scenario.thread("reader") {
                guard isPosted.value.load(ordering: .relaxed) else { return }
                seen = load(page.value) == new ? "new" : "old"
            }
            scenario.outcome { seen }
        }
    }

    private static let loops = [
        KnownProgram("a loop that waits for a flag ends", outcomes: ["1"], explored: 1...9) {
            waitForFlag($0, isOrdered: true)
        },
        KnownProgram("a newer flag is seen at last", outcomes: ["0", "1"], explored: 1...9) {
            waitForFlag($0, isOrdered: false)
        },
        KnownProgram("a task that yields until a flag is set ends", explored: 1...19) { scenario in
            let isPosted = Box(Atomic(false))
            scenario.task("waiter") {
                while !isPosted.value.load(ordering: .relaxed) { await Task.yield() }
            }
            scenario.thread("writer") { isPosted.value.store(true, ordering: .relaxed) }
        },
        KnownProgram("locks order what atomic operations store", outcomes: ["-1", "1"]) {
            scenario in
            let (page, isPosted) = (Box(Atomic(0)), Box(Atomic(false)))
            let lock = Box(Mutex(()))
            var seen = -1
            scenario.thread("writer") {
                page.value.store(1, ordering: .relaxed)
                lock.value.withLock { _ in }
                isPosted.value.store(true, ordering: .relaxed)
            }
            scenario.thread("reader") {
                guard isPosted.value.load(ordering: .relaxed) else { return }
                lock.value.withLock { _ in }
                seen = page.value.load(ordering: .relaxed)
            }
            scenario.outcome { "\(seen)" }
        },
        KnownProgram("a flag that nobody sets is a deadlock", .deadlock) { scenario in
            let (isPosted, other) = (Box(Atomic(0)), Box(Atomic(0)))
            scenario.thread("waiter") {
                while isPosted.value.load(ordering: .relaxed) != 2 {}
            }
            scenario.thread("writer") {
                isPosted.value.store(1, ordering: .relaxed)
                other.value.store(1, ordering: .relaxed)
            }
        },
    ]

    private static func waitForFlag(_ scenario: Scenario, isOrdered: Bool) {
        let (page, isPosted) = (Box(Atomic(0)), Box(Atomic(false)))
        let seen = Counter()
        scenario.thread("writer") {
            page.value.store(1, ordering: .relaxed)
            if isOrdered {
                isPosted.value.store(true, ordering: .releasing)
            } else {
                isPosted.value.store(true, ordering: .relaxed)
            }
        }
        scenario.thread("reader") {
            while !isPosted.value.load(ordering: .acquiring) {}
            seen.value = page.value.load(ordering: .relaxed)
        }
        scenario.outcome { "\(seen.value)" }
    }
}

private final class Made: Sendable {}
