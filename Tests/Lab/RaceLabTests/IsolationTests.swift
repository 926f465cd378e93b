import CRaceLab
import Foundation
import RaceLab
import RaceLabTesting
import SharedSuite
import Synchronization
import Testing

/// Code under test that crashes, explored in child processes.
@Suite("A crash is contained", .needsTheLab)
struct IsolationTests {
    private static var isolated: Exploration.Options {
        var options = Exploration.Options.everyOrder
        options.isolation = .childProcess()
        options.failingKinds = [.crash]
        return options
    }

    private final class Slot: Sendable {
        nonisolated(unsafe) var value: Int? = 1
    }

    private final class Row: Sendable {
        nonisolated(unsafe) var items = [1, 2]
    }

    /// The line of this file that ends with a comment.
    private static func line(_ comment: String) -> Int {
        let text = (try? String(contentsOfFile: #filePath, encoding: .utf8)) ?? ""
        let lines = text.components(separatedBy: "\n")
        return (lines.firstIndex { $0.hasSuffix("// \(comment)") } ?? -1) + 1
    }

    // MARK: Kinds of crash

    private static let forceUnwrap: @Sendable (Scenario) -> Void = { scenario in
        let slot = Slot()
        let log = Scenario.Log<Int>()
        scenario.thread("taker") {
            guard slot.value != nil else { return }
            log.append(slot.value!)  // unwraps
        }
        scenario.thread("emptier") { slot.value = nil }
        scenario.outcome { "\(log.entries)" }
        scenario.state("slot") { slot.value.map { "\($0)" } ?? "nil" }
    }

    @Test("a nil value is unwrapped in one of four interleavings")
    func forceUnwrap() throws {
        let exploration = explore(options: Self.isolated, Self.forceUnwrap)
        #expect(exploration.inconclusive == nil)
        #expect(exploration.coverage == .all)
        #expect(exploration.explored == 4 && exploration.failing == 1, "\(exploration.text())")
        #expect(exploration.outcomes == ["[]": 1, "[1]": 2])
        let crash = try #require(exploration.findings.first)
        #expect(crash.kind == .crash && crash.count == 1)
        #expect(crash.schedule.text(threads: exploration.threads) == "TET")
        let place = "IsolationTests.swift:\(Self.line("unwraps"))"
        #expect(crash.reason.hasPrefix("'taker' crashes at \(place): Unexpectedly found nil"))
        #expect(crash.reason.contains("(SIG"))
    }

    /// What ends a process, and what its finding says. An address would differ from run to run.
    private static let traps: [(words: String, end: @Sendable (Slot) -> Void)] = [
        ("Precondition failed", { precondition($0.value == nil) }),
        ("too many", { precondition($0.value == nil, "too many") }),
        ("not now", { _ in fatalError("not now") }),
        (
            "Could not cast value of type 'Swift.String' to 'Swift.Int'.",
            { slot in
                let any: Any = "one"
                slot.value = (any as! Int)
            }
        ),
        (
            "Incorrect actor executor assumption; expected 'RaceLabTests.IsolationTests.Alone' executor.",
            { _ in Alone().preconditionIsolated() }
        ),
        (
            "Simultaneous accesses, but modification requires exclusive access.",
            { slot in modify(&slot.value) { slot.value = nil } }
        ),
        (
            "free(): invalid pointer",
            { slot in
                let memory = malloc(64)!
                slot.value = Int(memory.load(as: UInt8.self))
                free(memory + 16)
            }
        ),
    ]

    private actor Alone {}

    private static func modify(_ value: inout Int?, _ body: () -> Void) {
        body()
        value = nil
    }

    @Test(
        "the message of a trap is part of the finding, for every kind of trap",
        arguments: 0..<7)
    func messages(index: Int) {
        let trap = Self.traps[index]
        let exploration = explore(options: Self.isolated) { scenario in
            let slot = Slot()
            scenario.thread("only") { trap.end(slot) }
        }
        let reason = exploration.findings.first?.reason ?? ""
        #expect(reason.contains(": \(trap.words) (SIG"), "\(exploration.text())")
    }

    @Test("a crash before the first step is in the table")
    func crashAtOnce() throws {
        let exploration = explore(options: Self.isolated) { scenario in
            scenario.thread("only") { fatalError("at once") }
        }
        let trace = try #require(try exploration.counterexample())
        #expect(trace.steps.isEmpty)
        for width in [20, 100] {
            let table = trace.table(width: width).split(separator: "\n").joined(separator: " ")
            #expect(table.contains("← 'only'") && table.contains("at once"), "\(table)")
        }
        #expect(trace.markdown.contains("← 'only' crashes"))
    }

    @Test("a counterexample marks the steps of the data race that it shows")
    func twoRaces() throws {
        func describe(_ scenario: Scenario) {
            let (first, second) = (Slot(), Slot())
            scenario.threads("one", "other") {
                first.value = 2
                second.value = 3
            }
        }
        let isolated = explore(options: .isolated, describe)
        let inProcess = explore(describe)
        #expect(isolated.findings.count == 2)
        for finding in isolated.findings {
            let tables = try [isolated, inProcess].map {
                try $0.counterexample(showing: finding)?.table()
            }
            #expect(tables[0] == tables[1] && tables[0]?.contains("←") == true)
        }
    }

    @Test("the table of an interleaving that crashes ends with the crash")
    func table() throws {
        let exploration = explore(options: Self.isolated, Self.forceUnwrap)
        let trace = try #require(
            try exploration.counterexample())
        #expect(trace.scheduleText == "TET")
        #expect(trace.threads == ["taker", "emptier"])
        #expect(trace.steps.map(\.kind) == [.read, .modify, .read])
        #expect(trace.initial == ["1"])
        #expect(trace.steps.map { $0.states ?? [] } == [["1"], ["nil"], [""]])
        #expect(trace.steps.last?.mark == exploration.findings.first?.reason)
        #expect(trace.findings.map(\.kind) == [.crash])
        let lines = trace.table().split(separator: "\n")
        #expect(lines.contains { $0.contains("log.append(slot.value!)") }, "\(trace.table())")
        #expect(lines.allSatisfy { $0.count <= 100 })
    }

    /// A program that crashes in one interleaving, and what is reported.
    struct Crash: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let explored: Int
        let coverage: Exploration.Coverage
        let beginning: String
        let ending: String
        let describe: @Sendable (Scenario) -> Void

        init(
            _ testDescription: String, explored: Int = 2, coverage: Exploration.Coverage = .all,
            _ beginning: String, ending: String = "",
            _ describe: @escaping @Sendable (Scenario) -> Void
        ) {
            self.testDescription = testDescription
            (self.explored, self.coverage) = (explored, coverage)
            (self.beginning, self.ending) = (beginning, ending)
            self.describe = describe
        }
    }

    /// One thread crashes if the other one comes first.
    private static func whenEmptied(
        _ crash: @escaping @Sendable () -> Void
    ) -> @Sendable (Scenario) -> Void {
        { scenario in
            let slot = Slot()
            scenario.thread("first") { if slot.value == nil { crash() } }
            scenario.thread("second") { slot.value = nil }
        }
    }

    static let crashes = [
        Crash(
            "an index out of range", explored: 4,
            "'reader' crashes at IsolationTests.swift:\(line("indexes")): Index out of range"
        ) { scenario in
            let row = Row()
            let log = Scenario.Log<Int>()
            scenario.thread("reader") {
                let last = row.items.count - 1
                log.append(row.items[last])  // indexes
            }
            scenario.thread("remover") { row.items = [1] }
        },
        Crash(
            "a stack overflow", "'first' overflows its stack at IsolationTests.swift:",
            whenEmptied { overflow(0) }),
        Crash(
            "the code under test ends the process", "'first' ends the process with status 3",
            ending: "'first' ends the process with status 3", whenEmptied { exit(3) }),
        Crash(
            "as if it had succeeded", "'first' ends the process with status 0",
            ending: "'first' ends the process with status 0", whenEmptied { exit(0) }),
        Crash(
            "a bad access", "'first' crashes at IsolationTests.swift:", ending: "(SIGSEGV)",
            whenEmptied { UnsafeMutablePointer<Int>(bitPattern: 16)!.pointee = 1 }),
        Crash(
            "before the first step of a thread", explored: 1, coverage: .first(1),
            "'second' crashes at"
        ) { scenario in
            let slot = Slot()
            scenario.thread("first") { slot.value = 2 }
            scenario.thread("second") { fatalError("at once") }
        },
        Crash("in a check", "a check crashes at") { scenario in
            let slot = Slot()
            scenario.thread("first") { slot.value = nil }
            scenario.thread("second") { slot.value = 2 }
            scenario.check { try Scenario.require(slot.value! == 2, "not 2") }
        },
        Crash(
            "while the scenario is freed, which has no check", explored: 1,
            "after the threads have ended, the process crashes at"
        ) { scenario in
            final class Bomb: Sendable {
                deinit { fatalError("boom") }
            }
            let (slot, bomb) = (Slot(), Bomb())
            scenario.thread("first") { withExtendedLifetime(bomb) { slot.value = 2 } }
        },
    ]

    @Test("is counted, and reported with its place", arguments: crashes)
    func place(of example: Crash) throws {
        var options = Self.isolated
        options.maximumSteps = 1_000_000
        let exploration = explore(options: options, example.describe)
        let crash = try #require(exploration.findings.first)
        #expect(crash.kind == .crash && crash.count == 1, "\(exploration.text())")
        #expect(crash.reason.hasPrefix(example.beginning), "\(crash.reason)")
        #expect(crash.reason.hasSuffix(example.ending), "\(crash.reason)")
        #expect(exploration.explored == example.explored && exploration.failing == 1)
        #expect(exploration.coverage == example.coverage && exploration.inconclusive == nil)
    }

    // MARK: Where it crashes

    @Test("a crash in set-up is reported without an interleaving")
    func setUpCrashes() throws {
        let exploration = explore(options: Self.isolated) { scenario in
            scenario.thread("first") {}
            fatalError("nothing to set up")
        }
        #expect(!exploration.survives)
        #expect(exploration.coverage == .first(1))
        let crash = try #require(exploration.findings.first)
        #expect(crash.reason.hasPrefix("set-up crashes at IsolationTests.swift:"))
        #expect(crash.reason.contains("nothing to set up"))
        #expect(crash.schedule.choices.isEmpty)
    }

    @Test("a crash in a later set-up is reported with what was found before it")
    func laterSetUpCrashes() throws {
        nonisolated(unsafe) var setUps = 0
        var options = Self.isolated
        options.failingKinds.insert(.failedCheck)
        let exploration = explore(options: options) { scenario in
            setUps += 1
            precondition(setUps < 4, "one too many")
            let slot = Slot()
            scenario.thread("first") { slot.value = 2 }
            scenario.thread("second") { slot.value = 3 }
            scenario.thread("third") { slot.value = 4 }
            scenario.check { try Scenario.require(false, "never right") }
        }
        #expect(exploration.findings.map(\.kind) == [.crash, .failedCheck])
        #expect(exploration.findings[0].reason.contains("one too many"))
        #expect(exploration.limit == .crash)
        #expect(exploration.coverage == .first(exploration.explored))
        #expect(exploration.explored < 6 && exploration.failing == exploration.explored + 1)
    }

    private static let inLittleMemory: Exploration.Options = {
        var options = isolated
        options.isolation = .childProcess(memoryLimit: 64 << 20)
        return options
    }()

    @Test("threads leave no memory behind", arguments: threads)
    func manyThreads(_ program: KnownProgram) { program.check() }

    static let threads = [
        KnownProgram("that end", explored: 1260...1260, options: inLittleMemory) { scenario in
            let slot = Slot()
            scenario.thread("first") {
                for number in 0..<3 { Thread.detachNewThread { slot.value = number } }
            }
            scenario.thread("second") { for number in 0..<3 { slot.value = number } }
        },
        KnownProgram("that are stuck", explored: 924...924, options: inLittleMemory) { scenario in
            let slot = Slot()
            let never = DispatchSemaphore(value: 0)
            scenario.threads("first", "second") {
                for number in 0..<6 { slot.value = number }
                never.wait()
            }
        },
    ]

    @Test("without a verdict, what was explored is counted")
    func countsBeforeTheEnd() {
        nonisolated(unsafe) var runs = 0
        let exploration = explore(options: Self.isolated) { scenario in
            let slot = Slot()
            scenario.thread("first") { slot.value = 2 }
            scenario.thread("second") { slot.value = 3 }
            scenario.check {
                runs += 1
                if runs == 2 { kill(getpid(), SIGKILL) }
            }
        }
        #expect(exploration.inconclusive != nil && exploration.explored == 1)
    }

    @Test("orders in which a step does not crash are explored", arguments: 0..<6)
    func ordersWithoutCrash(number: Int) {
        final class Link: @unchecked Sendable {
            var strong: Slot? = Slot()
            weak var weakly: Slot?
            unowned var unowned: Slot
            var seen = 0
            init() {
                unowned = strong!
                weakly = strong
            }
        }
        func exploration(reduces: Bool) -> Exploration {
            var options = Exploration.Options()
            options.isolation = .childProcess()
            options.reduction = reduces
            return explore(options: options) { scenario in
                let (link, slot) = (Link(), Slot())
                slot.value = nil
                scenario.outcome { "\(link.seen)" }
                if number == 3 || number == 4 { scenario.thread("drops") { link.strong = nil } }
                scenario.thread("uses") {
                    switch number {
                    case 0: link.seen = slot.value!
                    case 1:
                        slot.value = nil
                        link.seen = slot.value!
                    case 2, 3: link.seen = link.weakly!.value!
                    case 5:
                        precondition(link.weakly == nil, "there is one")
                        link.seen = slot.value!
                    default: link.seen = link.unowned.value!
                    }
                }
                if number < 2 { scenario.thread("fills") { slot.value = 1 } }
                if number == 5 {
                    scenario.thread("drops") {
                        link.strong = nil
                        _ = link.weakly!
                    }
                }
                if number == 2 { scenario.thread("drops") { link.strong = nil } }
            }
        }
        func found(_ exploration: Exploration) -> Set<String> {
            Set((exploration.findings + exploration.otherFindings).map(\.reason))
        }
        let (reduced, complete) = (exploration(reduces: true), exploration(reduces: false))
        #expect(Set(reduced.outcomes.keys) == Set(complete.outcomes.keys), "\(reduced.text())")
        #expect(found(reduced) == found(complete), "\(reduced.text()) \(complete.text())")
        #expect(Set(complete.outcomes.keys) == (number < 5 ? ["1"] : []))
        #expect(complete.coverage == .all)
    }

    @Test("reduction loses nothing of random programs that can crash")
    func randomCrashes() {
        var options = Exploration.Options()
        options.isolation = .childProcess()
        var unreduced = options
        unreduced.reduction = false
        func found(_ exploration: Exploration) -> Set<String> {
            Set(exploration.findings.map(\.reason)).union(exploration.outcomes.keys)
        }
        var crashing = 0
        for seed in 1...UInt64(everyCaseIsTested ? 200 : 20) {
            let program = RandomCrashProgram(seed: seed)
            let reduced = explore(options: options, program.describe)
            let complete = explore(options: unreduced, program.describe)
            guard complete.coverage == .all else { continue }
            #expect(reduced.coverage == .all, "seed \(seed): \(program)\n\(reduced.text())")
            #expect(found(reduced) == found(complete), "seed \(seed): \(program)")
            if complete.findings.contains(where: { $0.kind == .crash }) { crashing += 1 }
        }
        #expect(crashing > 5, "\(crashing)")
    }

    // MARK: Going on

    @Test("a process that the code under test has started keeps the output open")
    func startsProcess() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        _ = fcntl(writing, F_SETFD, FD_CLOEXEC)
        defer { ends.forEach { close($0) } }
        let exploration = explore(
            options: Self.isolated,
            Self.whenEmptied {
                system("cat <&\(reading) >/dev/null &")
                exit(3)
            })
        let crash = try #require(exploration.findings.first, "\(exploration.text())")
        #expect(crash.reason == "'first' ends the process with status 3")
    }

    @Test("many interleavings crash, and all are counted")
    func goesOn() throws {
        let exploration = explore(options: Self.isolated) { scenario in
            let slot = Slot()
            let counter = Counter()
            scenario.thread("taker") {
                counter.value += 1
                guard slot.value != nil else { return }
                counter.value += slot.value!
            }
            scenario.thread("emptier") {
                slot.value = nil
                counter.value = 0
            }
        }
        #expect(exploration.coverage == .all && exploration.inconclusive == nil)
        let crash = try #require(exploration.findings.first)
        #expect(crash.kind == .crash && crash.count > 1, "\(exploration.text())")
        #expect(
            exploration.failing >= crash.count
                && exploration.explored > exploration.findings[0].count)
    }

    @Test("after 64 crashes the exploration ends, and reports that")
    func givesUp() throws {
        let exploration = explore(options: Self.isolated) { scenario in
            let slot = Slot()
            scenario.thread("first") {
                for _ in 0..<6 { slot.value = nil }
                fatalError("always")
            }
            scenario.thread("second") { for _ in 0..<6 { slot.value = 1 } }
        }
        #expect(exploration.coverage == .first(65), "\(exploration.text())")
        #expect(exploration.explored == 65 && exploration.failing == 65)
    }

    @Test(
        "an exploration in child processes has the same findings",
        arguments: [Classic.lostUpdate, .twoPhilosophers, .atomicLostUpdate, .petersonWithoutTurn])
    func sameReport(of classic: Classic) throws {
        let isolated = classic.exploration { $0.isolation = .childProcess() }
        #expect(isolated.json == classic.exploration().json)
    }

    @Test("a replay in a child process gives the same table, and refuses the same schedules")
    func sameReplay() throws {
        let options = Exploration.Options.isolated
        let describe = Classic.lostUpdate.describe
        let schedule = try #require(Classic.lostUpdate.exploration().findings.first?.schedule)
        let (here, there) = (
            try Exploration.replay(schedule, describe),
            try Exploration.replay(schedule, options: options, describe)
        )
        #expect(here.table() == there.table())
        let mismatch = refusal {
            try Exploration.replay("FSS", options: Self.isolated, describe)
        }?.mismatch
        #expect(mismatch?.step == 4)
        let error = refusal { try Exploration.replay("F?", options: Self.isolated, describe) }
        #expect(error?.malformed != nil)
    }

    // MARK: Limits

    @Test("a child process that does not end as it should gives no verdict", arguments: limits)
    func withoutVerdict(_ program: KnownProgram) { program.check() }

    private static let limits: [KnownProgram] = [
        KnownProgram(
            "takes too long", options: .with { $0.isolation = hurried },
            noVerdict: "did not finish within 0.1 seconds"
        ) { scenario in
            let slot = Slot()
            scenario.thread("first") { if slot.value == 1 { while true {} } }
            scenario.thread("second") { slot.value = 2 }
        },
        KnownProgram(
            "the lab runs out of memory in it", options: roomy,
            noVerdict: "RaceLab is out of memory: ", forceUnwrap),
        KnownProgram(
            "is killed by another process", options: isolated, noVerdict: "SIGKILL",
            whenEmptied { kill(getpid(), SIGKILL) }),
        KnownProgram(
            "blocks, as all others do", options: isolated, noVerdict: "the thread 'first' blocks",
            waiting { true }),
    ]

    private static let hurried = Exploration.Options.Isolation.childProcess(
        timeLimit: .milliseconds(100))
    private static let roomy = Exploration.Options.with {
        $0.isolation = .childProcess(memoryLimit: 1 << 20)
        $0.maximumSteps = 20_000_000  // the lab allocates room for them
    }

    @Test("a child process that takes too much memory crashes")
    func memoryLimit() throws {
        let exploration = explore(options: Self.inLittleMemory) { scenario in
            let slot = Slot()
            scenario.thread("first") {
                guard slot.value == nil else { return }
                slot.value = [UInt8](repeating: 1, count: 256 << 20).count
            }
            scenario.thread("second") { slot.value = nil }
        }
        #expect(exploration.findings.first?.kind == .crash, "\(exploration.text())")
        #expect(exploration.explored >= 2)
    }

    /// Two threads. In every child process for which `blocks` returns `true`, one of them waits for
    /// data that is never written.
    private static func waiting(
        where blocks: @escaping @Sendable () -> Bool
    ) -> @Sendable (Scenario) -> Void {
        { scenario in
            let slot = Slot()
            scenario.thread("first") {
                slot.value = 2
                if blocks() { BlockedEntryPointTests.readFromPipe() }
            }
            scenario.thread("second") { slot.value = nil }
        }
    }

    /// A file that exists from the first check on, whichever process checks.
    private struct Once {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).once").path

        func isFirst() -> Bool {
            let created = open(path, O_CREAT | O_EXCL, 0o600)
            if created >= 0 { close(created) }
            return created >= 0
        }

        func remove() { unlink(path) }
    }

    // A child process may block on a lock that another thread held when it was forked. Here the
    // scenario itself waits instead, and a file tells a child process whether it is the first.

    @Test("a child process that blocks is tried again")
    func blocksOnce() throws {
        let once = Once()
        defer { once.remove() }
        let blocksOnce = Self.waiting { once.isFirst() }
        let exploration = explore(options: Self.isolated, blocksOnce)
        #expect(exploration.survives && exploration.explored == 2, "\(exploration.text())")
        once.remove()
        let trace = try Exploration.replay("FS", options: Self.isolated, blocksOnce)
        #expect(trace.scheduleText == "FS")
    }

    @Test("a child process that blocks during set-up is tried again")
    func blocksInSetUpOnce() throws {
        let once = Once()
        defer { once.remove() }
        let trace = try Exploration.replay("FS", options: Self.isolated) { scenario in
            if once.isFirst() { BlockedEntryPointTests.readFromPipe() }
            Self.waiting { false }(scenario)
        }
        #expect(trace.scheduleText == "FS")
    }

    private static let begun = DispatchSemaphore(value: 0)
    private static let bytes: (input: Int32, output: Int32) = {
        var ends: [Int32] = [-1, -1]
        return pipe(&ends) == 0 ? (ends[1], ends[0]) : (-1, -1)
    }()
    /// Initialized once a byte has arrived.
    private static let late: Int = {
        begun.signal()
        var byte: UInt8 = 0
        return read(bytes.output, &byte, 1)
    }()

    @Test("a global that another thread initializes at the fork is there for the next child")
    func initializes() {
        Thread { _ = Self.late }.start()
        Self.begun.wait()
        let exploration = explore(options: Self.isolated) { scenario in
            var byte: UInt8 = 1
            _ = write(Self.bytes.input, &byte, 1)
            _ = Self.late
            Self.waiting { false }(scenario)
        }
        #expect(exploration.survives && exploration.explored == 2, "\(exploration.text())")
    }

    @Test("a lock that another thread of this process holds does no harm")
    func otherThreads() {
        let ended = Atomic(false)
        let busy = (0..<2).map { _ in
            let thread = Thread {
                while !ended.load(ordering: .relaxed) {
                    _ = try? Exploration.replay("FSFS", Classic.lostUpdate.describe).table()
                }
            }
            thread.start()
            return thread
        }
        for _ in 0..<20 {
            let exploration = explore(options: Self.isolated, Self.forceUnwrap)
            #expect(
                exploration.failing == 1 && exploration.inconclusive == nil, "\(exploration.text())"
            )
        }
        ended.store(true, ordering: .relaxed)
        _ = busy
    }
}

/// Needs more stack than the thread has.
@inline(never) func overflow(_ depth: Int) {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 128) { room in
        room[0] = depth
        overflow(depth + 1)
        room[1] = depth
    }
}
