import Foundation
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

/// Code under test that crashes, explored in child processes.
@Suite("A crash is contained", .needsTheLab)
struct IsolationTests {
    private static var isolated: Exploration.Options {
        var options = Exploration.Options.everyOrder
        options.isolation = .patient
        options.failingKinds = [.crash]
        return options
    }

    private final class Slot: Sendable {
        nonisolated(unsafe) var value: Int? = 1
    }

    // MARK: Kinds of crash

    private static let unwraps = place(6)
    private static let forceUnwrap: @Sendable (Scenario) -> Void = { scenario in
        let slot = Slot()
        let log = Scenario.Log<Int>()
        scenario.thread("taker") {
            guard slot.value != nil else { return }
            log.append(slot.value!)
        }
        scenario.thread("emptier") { slot.value = nil }
        scenario.outcome { "\(log.entries)" }
        scenario.state("slot") { slot.value.map { "\($0)" } ?? "nil" }
    }

    @Test("a nil value is unwrapped in one of four interleavings, which the table shows")
    func forceUnwrap() throws {
        let exploration = explore(options: Self.isolated, Self.forceUnwrap)
        #expect(exploration.inconclusive == nil)
        #expect(exploration.coverage == .all)
        #expect(exploration.explored == 4 && exploration.failing == 1, "\(exploration.text())")
        #expect(exploration.outcomes == ["[]": 1, "[1]": 2])
        let crash = try #require(exploration.findings.first)
        #expect(crash.kind == .crash && crash.count == 1)
        #expect(crash.schedule.text(threads: exploration.threads) == "TET")
        let beginning = "'taker' crashes at \(Self.unwraps): Unexpectedly found nil"
        #expect(crash.reason.hasPrefix(beginning))
        #expect(crash.reason.contains("(SIG"))
        let trace = try #require(try exploration.counterexample())
        #expect(trace.scheduleText == "TET" && trace.findings.map(\.kind) == [.crash])
        #expect(trace.initial == ["1"])
        #expect(trace.steps.map { $0.states ?? [] } == [["1"], ["nil"], [""]])
        #expect(trace.steps.last?.mark == crash.reason)
        let lines = trace.table().split(separator: "\n")
        #expect(lines.contains { $0.contains("log.append(slot.value!)") }, "\(trace.table())")
    }

    /// What ends a process, and what its finding says. An address would differ from run to run.
    private static let traps: [(words: String, end: @Sendable (Slot) -> Void)] = [
        ("Precondition failed", { precondition($0.value == nil) }),
        ("too many", { precondition($0.value == nil, "too many") }),
        ("not now", { _ in fatalError("not now") }),
        ("Arithmetic overflow", { $0.value! += .max }),
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
                free(memory + 8)  // Memory is aligned to 16 bytes.
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
        arguments: traps.indices)
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

    @Test("is reported with its place", arguments: crashes)
    func known(_ program: KnownProgram) { program.check() }

    private static func crash(
        _ description: String, explored: Int = 2, _ reason: String,
        _ describe: @escaping @Sendable (Scenario) -> Void
    ) -> KnownProgram {
        let options = Exploration.Options.with {
            $0 = isolated
            $0.maximumSteps = 1_000_000
        }
        return KnownProgram(
            description, .crash, reason: [reason], explored: explored...explored, options: options,
            describe)
    }

    private static let crashes = [
        crash(
            "an index out of range", explored: 4,
            "'reader' crashes at \(place(6)): Index out of range"
        ) { scenario in
            let row = Holder([1, 2])
            let log = Scenario.Log<Int>()
            scenario.thread("reader") {
                let last = row.value.count - 1
                log.append(row.value[last])
            }
            scenario.thread("remover") { row.value = [1] }
        },
        crash(
            "a stack overflow", "'first' overflows its stack at IsolationTests.swift:",
            whenEmptied { overflow(0) }),
        crash(
            "the code under test ends the process", "'first' ends the process with status 3",
            whenEmptied { exit(3) }),
        crash(
            "as if it had succeeded", "'first' ends the process with status 0",
            whenEmptied { exit(0) }),
        crash(
            "a bad access", "'first' crashes at IsolationTests.swift:",
            whenEmptied { UnsafeMutablePointer<Int>(bitPattern: 16)!.pointee = 1 }),
        crash(
            "a trap of a library",
            "'first' crashes in dispatch_group_leave at IsolationTests.swift:",
            whenEmptied { DispatchGroup().leave() }),
        crash("in a check", "a check crashes at") { scenario in
            let slot = Slot()
            scenario.thread("first") { slot.value = nil }
            scenario.thread("second") { slot.value = 2 }
            scenario.check { try Scenario.require(slot.value! == 2, "not 2") }
        },
        KnownProgram("too much memory", .crash, options: inLittleMemory) { scenario in
            let slot = Slot()
            scenario.thread("first") {
                guard slot.value == nil else { return }
                slot.value = [UInt8](repeating: 1, count: 256 << 20).count
            }
            scenario.thread("second") { slot.value = nil }
        },
    ]

    // MARK: Where it crashes

    @Test("a crash while the scenario is freed is reported")
    func freeingCrashes() throws {
        final class Bomb: Sendable {
            deinit { fatalError("boom") }
        }
        let exploration = explore(options: Self.isolated) { scenario in
            let (slot, bomb) = (Slot(), Bomb())
            scenario.thread("first") { withExtendedLifetime(bomb) { slot.value = 2 } }
        }
        let reason = try #require(exploration.reasons(.crash).first)
        #expect(reason.hasPrefix("after the threads have ended, the process crashes at"))
        #expect(exploration.explored == 1 && exploration.failing == 1)
    }

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
        options.isolation = .childProcess(
            timeLimit: .seconds(600), memoryLimit: 64 << 20)
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

    @Test("reduction loses nothing of programs that can crash")
    func reduction() {
        let complete = Exploration.Options.with {
            $0.isolation = .patient
            $0.reduction = false
        }
        func found(_ exploration: Exploration) -> Set<String> {
            Set(exploration.findings.map(\.reason)).union(exploration.outcomes.keys)
        }
        var crashing = 0
        let seeds = 1...UInt64(everyCaseIsTested ? 200 : 20)
        for program in RandomCrashProgram.known + seeds.map(RandomCrashProgram.init(seed:)) {
            let reduced = explore(options: .isolated, program.describe)
            let complete = explore(options: complete, program.describe)
            guard complete.coverage == .all else { continue }
            #expect(reduced.coverage == .all, "\(program)\n\(reduced.text())")
            #expect(found(reduced) == found(complete), "\(program)")
            if complete.findings.contains(where: { $0.kind == .crash }) { crashing += 1 }
        }
        #expect(crashing > 11, "\(crashing)")
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
                system("cat </dev/fd/\(reading) >/dev/null &")
                exit(3)
            })
        let crash = try #require(exploration.findings.first, "\(exploration.text())")
        #expect(crash.reason == "'first' ends the process with status 3")
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
        let isolated = classic.exploration { $0.isolation = .patient }
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
        $0.isolation = .childProcess(timeLimit: .seconds(600), memoryLimit: 1 << 20)
        $0.maximumSteps = 20_000_000  // the lab allocates room for them
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
}

/// Needs more stack than the thread has.
@inline(never) func overflow(_ depth: Int) {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 128) { room in
        room[0] = depth
        overflow(depth + 1)
        room[1] = depth
    }
}
