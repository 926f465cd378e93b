#if os(Linux)
    import Foundation
    import RaceLabTesting
    import Synchronization
    import Testing

    @testable import RaceLab

    /// What code under test gets from outside: random numbers and the time.
    @Suite("Random numbers and the time", .needsTheLab)
    struct InputTests {
        private final class Shared: @unchecked Sendable {
            let lock = NSLock()
            var value = 0
            var other = 0
        }

        /// Two threads that do the same under one lock.
        private static func underLock(
            _ body: @escaping @Sendable (Shared) -> Void
        ) -> @Sendable (Scenario) -> Void {
            { scenario in
                let shared = Shared()
                scenario.threads("first", "second") { shared.lock.withLock { body(shared) } }
                scenario.outcome { "\(shared.value)" }
            }
        }

        private static func options(seed: UInt64) -> Exploration.Options {
            .with { $0.randomSeed = seed }
        }

        // MARK: Random numbers

        @Test(
            "the numbers of a seed are the same in every run, and no exploration survives by them",
            arguments: ["Int.random", "shuffled", "UUID", "arc4random", "/dev/urandom"])
        func numbers(source: String) {
            let results = (0..<3).map { _ in
                explore(
                    options: Self.options(seed: 1),
                    Self.underLock { shared in shared.value += Self.draw(source) })
            }
            for exploration in results {
                #expect(exploration.inconclusive == nil && exploration.failing == 0)
                #expect(!exploration.survives)
                #expect(exploration.randomSeed == 1)
                #expect(exploration.summary.hasPrefix("no failure in all interleavings"))
                #expect(exploration.summary.hasSuffix("with the random numbers of seed 1"))
            }
            #expect(Set(results.map(\.outcomes)).count == 1)
            #expect(results[0].outcomes.count == 1)
        }

        private static func draw(_ source: String) -> Int {
            switch source {
            case "Int.random": return Int.random(in: 0..<1_000_000)
            case "shuffled": return Array(0..<1000).shuffled()[0]
            case "UUID": return UUID().hashValue & 0xFFFFFF
            case "arc4random": return Int(arc4random_uniform(1_000_000))
            default:
                var number: UInt32 = 0
                let file = open("/dev/urandom", O_RDONLY)
                defer { close(file) }
                precondition(read(file, &number, 4) == 4)
                return Int(number)
            }
        }

        @Test("another seed has other numbers")
        func seeds() {
            let outcomes = (1...3).map { (seed: UInt64) in
                explore(
                    options: Self.options(seed: seed),
                    Self.underLock { $0.value += Int.random(in: 0..<1_000_000) }
                ).outcomes
            }
            #expect(Set(outcomes).count == 3)
        }

        @Test("a test that expects a scenario to survive fails, unless it allows partial coverage")
        func expectation() {
            let scenario: @Sendable (Scenario) -> Void = { scenario in
                let shared = Shared()
                scenario.thread("only") { shared.value = Int.random(in: 0..<8) }
            }
            withKnownIssue { _ = expectSurvives(scenario) }
            expectSurvives(allowingPartialCoverage: true, scenario)
        }

        // MARK: Other input

        @Test("has its known result", arguments: programs)
        func known(_ program: KnownProgram) { program.check() }

        private static let programs = [
            KnownProgram(
                "code that only asks for the time keeps its verdict", outcomes: ["2"],
                explored: 2...2,
                underLock { shared in
                    let dates = [Date(), Date()]
                    shared.value += dates[0] == dates[1] ? 1 : 0
                    _ = (ContinuousClock.now, SuspendingClock.now, DispatchTime.now())
                }),
            KnownProgram(
                "a loop that asks for the time until a moment comes to its end", outcomes: ["2"],
                underLock { shared in
                    let end = Date().addingTimeInterval(60)
                    while Date() < end {}
                    let later = ContinuousClock.now + .seconds(60)
                    while ContinuousClock.now < later {}
                    shared.value += 1
                }),
            KnownProgram("so does one that also reads what another thread may change") { scenario in
                let flag = Flag()
                scenario.thread("waits") {
                    let end = ContinuousClock.now + .seconds(60)
                    while !flag.isSet.load(ordering: .acquiring), ContinuousClock.now < end {}
                    flag.isOver.store(true, ordering: .releasing)
                }
                scenario.thread("other") { flag.isOver.store(false, ordering: .releasing) }
            },
            KnownProgram(
                "a loop without a time limit is a deadlock, even if it asks for the time", .deadlock
            ) { scenario in
                let flag = Flag()
                scenario.thread("waits") {
                    while !flag.isSet.load(ordering: .acquiring) { _ = ContinuousClock.now }
                }
                scenario.thread("other") { flag.isOver.store(false, ordering: .releasing) }
            },
            KnownProgram(
                "after a sleep, that time has passed, although the sleep takes none",
                outcomes: ["2"], explored: 2...2,
                underLock { shared in
                    let before = (Date(), ContinuousClock.now)
                    var hour = timespec(tv_sec: 3600, tv_nsec: 0)
                    usleep(3_600_000_000)
                    sleep(3600)
                    nanosleep(&hour, nil)
                    clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, nil)
                    Thread.sleep(forTimeInterval: 3600)
                    let isLater =
                        Date() >= before.0.addingTimeInterval(5 * 3600)
                        && ContinuousClock.now - before.1 >= .seconds(5 * 3600)
                    shared.value += isLater ? 1 : 0
                }),
            KnownProgram(
                "a sleep for an invalid time is an error", outcomes: ["2"], explored: 2...2,
                underLock { shared in
                    let times = [
                        timespec(tv_sec: -1, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: -1),
                    ]
                    let before = ContinuousClock.now
                    let areErrors = times.allSatisfy { time in
                        var time = time
                        let result = clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nil)
                        return nanosleep(&time, nil) == -1 && result == EINVAL
                    }
                    let isLater = ContinuousClock.now - before > .seconds(1)
                    shared.value += areErrors && !isLater ? 1 : 0
                }),
            KnownProgram(
                "when a wait times out, its time has passed, and no more", outcomes: ["5.0 s"]
            ) { scenario in
                let (condition, seen) = (NSCondition(), Shared())
                scenario.thread("waits") {
                    let began = Date()
                    condition.lock()
                    _ = condition.wait(until: began + 1)
                    condition.unlock()
                    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 2)
                    _ = DispatchSemaphore(value: 0).wait(wallTimeout: .now() + 2)
                    seen.value = Int(Date().timeIntervalSince(began))
                }
                scenario.outcome { "\(Double(seen.value)) s" }
            },
            KnownProgram(
                "delayed work does not come before its time", outcomes: ["true true"]
            ) { scenario in
                let log = Scenario.Log<Bool>()
                scenario.thread("sends") {
                    let began = (Date(), ContinuousClock.now)
                    DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) {
                        log.append(Date().timeIntervalSince(began.0) >= 0.3)
                        log.append(ContinuousClock.now - began.1 >= .milliseconds(300))
                    }
                }
                scenario.outcome { log.entries.map(\.description).joined(separator: " ") }
            },
            KnownProgram(
                "delayed work waits less after a sleep", outcomes: ["10 s", "15 s"],
                everyOrder: true
            ) { scenario in
                let (began, log, lock) = (Date(), Scenario.Log<String>(), NSLock())
                DispatchQueue(label: "queue").asyncAfter(deadline: .now() + 5) { lock.withLock {} }
                scenario.thread("sleeps") {
                    lock.withLock {}
                    Thread.sleep(forTimeInterval: 10)
                }
                scenario.check { log.append("\(Int(Date().timeIntervalSince(began))) s") }
                scenario.outcome { log.entries.last ?? "\(Int(Date().timeIntervalSince(began))) s" }
            },
            KnownProgram(
                "the set-up, threads, tasks, and the check see one time", outcomes: ["100.0 100.0"]
            ) { scenario in
                let began = (ContinuousClock.now, SuspendingClock.now, Date())
                let seen = Shared()
                let slept = DispatchSemaphore(value: 0)
                scenario.thread("first") {
                    Thread.sleep(forTimeInterval: 50)
                    seen.value = ContinuousClock.now - began.0 >= .seconds(50) ? 1 : 0
                    slept.signal()
                }
                scenario.task("second") {
                    Self.wait(for: slept)
                    try? await Task.sleep(nanoseconds: 50_000_000_000)
                    seen.other = SuspendingClock.now - began.1 >= .seconds(100) ? 1 : 0
                }
                scenario.outcome {
                    let clock = Double((ContinuousClock.now - began.0).components.seconds)
                    let date = Date().timeIntervalSince(began.2).rounded(.down)
                    return seen.value + seen.other == 2 ? "\(clock) \(date)" : "too early"
                }
            },
            KnownProgram("two threads use a formatter of dates for the first time") { scenario in
                let (formatter, log) = (DateFormatter(), Scenario.Log<String>())
                let lock = NSLock()
                scenario.threads("first", "second") {
                    let year = formatter.string(from: Date(timeIntervalSince1970: 0))
                    lock.withLock { log.append(year) }
                }
                scenario.check { try Scenario.require(log.entries.count == 2, "missing") }
            },
            KnownProgram("a wait that times out has waited until its deadline") { scenario in
                let (condition, shared) = (NSCondition(), Shared())
                scenario.thread("waits") {
                    let end = Date().addingTimeInterval(60)
                    condition.lock()
                    while shared.value == 0, Date() < end { _ = condition.wait(until: end) }
                    condition.unlock()
                }
                scenario.thread("other") { condition.withLock { shared.other = 1 } }
            },
        ]

        private static func wait(for signal: DispatchSemaphore) { signal.wait() }

        private final class Flag: Sendable {
            let isSet = Atomic(false)
            let isOver = Atomic(false)
        }
    }

    // MARK: Atomics in code without lines

    /// A value with atomic operations that the compiler inserts at their calls. A protocol witness is
    /// a copy of them without lines.
    protocol AtomicValue {
        static func load(_ memory: UnsafeMutableRawPointer) -> Self
        static func store(_ memory: UnsafeMutableRawPointer, _ value: Self)
    }

    extension Int: AtomicValue {
        @_transparent
        static func load(_ memory: UnsafeMutableRawPointer) -> Int {
            memory.assumingMemoryBound(to: Atomic<Int>.self).pointee.load(ordering: .acquiring)
        }

        @_transparent
        static func store(_ memory: UnsafeMutableRawPointer, _ value: Int) {
            memory.assumingMemoryBound(to: Atomic<Int>.self).pointee.store(
                value, ordering: .releasing)
        }
    }

    final class GenericCell<Value: AtomicValue>: @unchecked Sendable {
        private let memory = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
        init(_ value: Value) { Value.store(memory, value) }
        deinit { memory.deallocate() }
        var value: Value {
            get { Value.load(memory) }
            set { Value.store(memory, newValue) }
        }
    }

    extension GenericCell<Int> {
        /// Two threads lose an update.
        static func explored() -> Exploration {
            explore { scenario in
                let cell = GenericCell(0)
                scenario.threads("first", "second") {
                    let seen = cell.value
                    cell.value = seen + 1
                }
                scenario.check { try Scenario.require(cell.value == 2, "an update was lost") }
            }
        }
    }
#endif
