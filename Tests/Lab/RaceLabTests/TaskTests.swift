import CRaceLab
import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Tasks and actors: every example has a known result, however it is explored.
@Suite("Tasks and actors", .needsTheLab, .enabled(if: unavailableTasks == nil))
struct TaskTests {
    private static func explored(
        _ example: TaskExample, upTo interleavings: Int = 3_000, reduction: Bool = true,
        faults: Int = 0
    ) -> Exploration {
        var options = Exploration.Options()
        options.reduction = reduction
        options.maximumInterleavings = interleavings
        options.faults = UInt32(faults)
        return explore(options: options, example.describe)
    }

    private static func kinds(_ exploration: Exploration) -> Set<Exploration.Finding.Kind> {
        Set(exploration.findings.map(\.kind))
    }

    private static func example(_ description: String) throws -> TaskExample {
        try #require(TaskExample.all.first { $0.description == description })
    }

    // MARK: Answers

    @Test("every example in the other files is in a list that is explored")
    func allExamples() throws {
        let explored = Set((TaskExample.all + TaskExample.uncontrolledExecutors).map(\.description))
        let this = URL(filePath: #filePath)
        let files = try FileManager.default.contentsOfDirectory(
            at: this.deletingLastPathComponent(), includingPropertiesForKeys: nil)
        var count = 0
        for file in files
        where file.pathExtension == "swift" && file.lastPathComponent != this.lastPathComponent {
            let source = try String(contentsOf: file, encoding: .utf8)
            let written = source.matches(of: /TaskExample\(\s*"([^"\\]+)"/).map { String($0.1) }
            #expect(written.filter { !explored.contains($0) } == [], "\(file.lastPathComponent)")
            count += written.count
        }
        #expect(count > 80)
    }

    @Test("every example has its known result, however it is explored", arguments: TaskExample.all)
    func answer(of example: TaskExample) {
        let exploration = Self.explored(example)
        #expect(exploration.coverage == .all, "\(exploration.text())")
        expect(exploration, agreesWith: example)
        expectUnreduced(example, upTo: 3_000)
    }

    /// Neither reduction nor additional scheduling points must make a difference.
    private func expectUnreduced(_ example: TaskExample, upTo interleavings: Int) {
        expect(
            Self.explored(example, upTo: interleavings, reduction: false), agreesWith: example)
        expect(
            Self.explored(
                example, upTo: 1_000, reduction: false, faults: RL_FAULT_POINT_AT_ALL_OF_RUNTIME),
            agreesWith: example)
    }

    private func expect(_ exploration: Exploration, agreesWith example: TaskExample) {
        let text = "\(example): \(exploration.text())"
        #expect(exploration.inconclusive == nil, "\(text)")
        if exploration.coverage == .all {
            #expect(Self.kinds(exploration) == example.findings, "\(text)")
            #expect(Set(exploration.outcomes.keys) == example.outcomes, "\(text)")
        } else {
            #expect(Self.kinds(exploration).isSubset(of: example.findings), "\(text)")
            #expect(Set(exploration.outcomes.keys).isSubset(of: example.outcomes), "\(text)")
        }
    }

    @Test(
        "random programs have the same outcomes, however they are explored", arguments: 0..<8)
    func randomPrograms(block: UInt64) {
        for seed in (block * 6)..<(block * 6 + 6) {
            let program = RandomTaskProgram(
                seed: seed, polls: seed % 3 == 0, hasQueue: seed % 2 == 1)
            let example = TaskExample("program \(seed):\n\(program)", [], program.describe)
            let reduced = Self.explored(example, upTo: 1_000)
            #expect(reduced.inconclusive == nil, "\(example): \(reduced.text())")
            guard reduced.coverage == .all else { continue }
            let known = TaskExample(
                example.description, Self.kinds(reduced), outcomes: Set(reduced.outcomes.keys),
                program.describe)
            expectUnreduced(known, upTo: 1_000)
        }
    }

    // MARK: Planted faults

    private static func failures(of example: TaskExample, _ faults: Int = 0) -> Int {
        let exploration = explored(example, reduction: false, faults: faults)
        #expect(exploration.inconclusive == nil, "\(exploration.text())")
        return exploration.findings.first?.count ?? 0
    }

    @Test(
        "a fault is noticed",
        arguments: [
            (
                "a continuation orders, also if it is resumed first",
                RL_FAULT_EARLY_RESUME_ORDERS_NOTHING
            ),
            ("an unsafe one, too", RL_FAULT_EARLY_RESUME_ORDERS_NOTHING),
            ("a stream orders what was done before", RL_FAULT_RUNTIME_LOCKS_ORDER_NOTHING),
            ("two tasks modify one thing", RL_FAULT_LANES_ORDER_TASKS),
        ])
    func notices(description: String, fault: Int) throws {
        let example = try Self.example(description)
        #expect(Self.failures(of: example) != Self.failures(of: example, fault))
    }

    @Test("a fault is noticed: the initialization of a global orders tasks")
    func initialization() {
        typealias Tell = @convention(c) (UnsafeRawPointer) -> Void
        func address(_ name: String) -> UnsafeMutableRawPointer {
            dlsym(UnsafeMutableRawPointer(bitPattern: 0), name)
        }
        func function(_ name: String) -> Tell {
            address(name).assumingMemoryBound(to: Tell.self).pointee
        }
        let acquires = function("_swift_tsan_acquire")
        let releases = function("_swift_tsan_release")
        let token = UInt(bitPattern: address("_swift_tsan_enabled"))
        let example = TaskExample("a token", [.overlap]) { scenario in
            let notebook = Notebook()
            scenario.task("first") {
                notebook.value += 1
                releases(UnsafeRawPointer(bitPattern: token)!)
            }
            scenario.task("second") {
                _ = notebook.other
                acquires(UnsafeRawPointer(bitPattern: token)!)
                notebook.value += 1
            }
        }
        let all = Self.explored(example, reduction: false)
        #expect(Self.failures(of: example) == all.explored)
        #expect(Self.failures(of: example, RL_FAULT_ONCE_ORDERS_TASKS) < all.explored)
    }

    // MARK: Words in tables and findings

    @Test("a task that waits for an actor is shown with the actor and the task that holds it")
    func waitingForActor() throws {
        let exploration = explore(waitForActor)
        #expect(
            try exploration.counterexample()?.table() == """
                    A                                                B
                 1  await account.wait(for:… :25 arrives at Account  ← every continuation fails from here
                 2                                                   await a… :27 waits for Account, which 'A' holds
                 –  func wait() { semaphore.wait() }            :17  ← waits for a semaphore to be signalled
                 –                                                   await account.deposit()                     :27
                                                                                ← waits for Account, which 'A' holds
                Line numbers refer to TaskTables.swift.
                """)
        let reason = try #require(exploration.findings.first).reason
        let why = "'B' waits at TaskTables.swift:27 for Account, which 'A' holds"
        #expect(reason.hasSuffix(why), "\(reason)")
        #expect(try exploration.counterexample()?.waiting.last?.cause == .actor(holder: 0))
    }

    @Test("a stream's consumer is shown waiting for an element, and receiving one")
    func receiving() throws {
        #expect(
            try Exploration.replay("ABBBBAA", receiveFromStream).table() == """
                      A                                                        B
                 1  ╶ for await _ in stream… :35 waits for the next element
                 2                                                           ╶ continuation.yield(1)             :38
                 3                                                             continuation.yield(1) :38 resumes 'A'
                 4                                                           ╶ continuation.finish()             :39
                 5                                                             (ends)
                 6  ╶ for await _ in stream {}                 :35 receives
                 7    (ends)
                Line numbers refer to TaskTables.swift.
                """)
        #expect(
            try Exploration.replay("BBAA", receiveFromThrowingStream).table() == """
                      A                                                              B
                 1                                                                 ╶ continuation.yield(1) :48
                 2                                                                   (ends)
                 3  ╶ for try await _ in stream {}                   :46 receives
                 4  ╶ for try await _ in stream {} :46 waits for the next element
                 –    for try await _ in stream {}                            :46  ← waits for the next element
                Line numbers refer to TaskTables.swift.
                """)
    }

    @Test("a stream's consumer that was cancelled before it waits receives only the end")
    func receivingTheEnd() throws {
        let exploration = explore { scenario in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            let kept = Shelf<AsyncStream<Int>.Continuation>()
            kept.put(continuation)
            scenario.task("A") {
                withUnsafeCurrentTask { $0?.cancel() }
                for await _ in stream {}
            }
        }
        let trace = try exploration.replay(try #require(exploration.passingSchedule))
        #expect(trace.steps.filter { $0.element == .received }.count == 1, "\(trace.table())")
        #expect(trace.steps.count { $0.element == nil } > 1, "\(trace.table())")
    }

    private actor Locker {
        static let shared = Locker()

        func take(_ first: NSLock, _ second: NSLock) { first.withLock { second.withLock {} } }
    }

    @Test("an actor that outlives a deadlock on it is free in the next run")
    func sharedActor() {
        func counts(_ locker: @escaping @Sendable () -> Locker) -> [Int] {
            let exploration = explore { scenario in
                let (locker, first, second) = (locker(), NSLock(), NSLock())
                scenario.task("on the actor") { await locker.take(first, second) }
                scenario.thread("beside it") { second.withLock { first.withLock {} } }
            }
            return [exploration.explored] + exploration.findings.map(\.count)
        }
        #expect(counts { Locker.shared } == counts { Locker() })
    }

    private actor Starter {
        var isDone = false
        func waitForAnother() {
            let semaphore = DispatchSemaphore(value: 0)
            Task {
                isDone = true
                semaphore.signal()
            }
            semaphore.wait()
        }
    }

    // MARK: Limits

    @Test("has its known result", arguments: programs)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram(
            "a task that waits to begin on an actor is shown where it is created", .deadlock,
            sentence: "'caller' waits at \(place(-12)) for a semaphore to be signalled; "
                + "'task 2' waits at \(place(-17)) to begin on Starter, which 'caller' holds"
        ) { scenario in
            scenario.task("caller") { await Starter().waitForAnother() }
        },
        KnownProgram(
            "a started task has a number, and a waiting task a place", .deadlock,
            sentence: "'task 2' waits at \(place(4)) to be resumed"
        ) { scenario in
            scenario.task("starter") {
                Task {
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
            }
        },
        KnownProgram(
            "a task that cannot remove its handler is shown where it awaits the operation",
            .deadlock, alwaysFails: false,
            reason: [
                "'canceller' waits at \(place(8)) for the lock that it took itself at \(place(11))",
                "'task 2' waits at \(place(6)) for the lock that 'canceller' took at \(place(10))",
            ]
        ) { scenario in
            let lock = NSLock()
            scenario.thread("canceller") {
                let task = Task {
                    await withTaskCancellationHandler(operation: { await Task.yield() }) {
                        lock.withLock {}
                    }
                }
                lock.withLock { task.cancel() }
            }
        },
        KnownProgram(
            "more tasks than the lab has room for",
            noVerdict: "'starter' starts one thread too many"
        ) { scenario in
            let notebook = Notebook()
            scenario.task("starter") {
                notebook.value = 1
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<40 { group.addTask {} }
                }
            }
        },
        KnownProgram(
            "a task that sleeps until a flag is set, each time until another time",
            noVerdict: "sleeps again and again, and reads the clock meanwhile", at: place(6)
        ) { scenario in
            let flag = Box(Mutex(false))
            scenario.thread("setter") { flag.value.withLock { $0 = true } }
            scenario.task("poller") {
                while !flag.value.withLock({ $0 }) {
                    try? await Task.sleep(until: .now + .milliseconds(1), clock: .continuous)
                }
            }
        },
        KnownProgram(
            "a task with a priority that is sent to another actor", noVerdict: "priority",
            at: "code without debug information"
        ) { scenario in
            let notebook = Notebook()
            scenario.task("sender") { await Actors.start(notebook) }
        },
        KnownProgram(
            "a recursive lock that the starter of an immediate task keeps",
            noVerdict: "recursive lock"
        ) { scenario in
            let lock = NSRecursiveLock()
            scenario.thread("starter") {
                lock.withLock { _ = Task.immediate { lock.withLock {} } }
            }
        },
        KnownProgram(
            "a sleep with a tolerance", noVerdict: "tolerance",
            at: "code without debug information"
        ) { scenario in
            scenario.task("sleeper") {
                try? await Task.sleep(for: .seconds(1), tolerance: .seconds(1))
            }
        },
        KnownProgram(
            "an isolated `deinit`, which may run later", noVerdict: "isolated deinit"
        ) { scenario in
            let bench = Bench()
            scenario.task("releases") {
                bench.actor = Ending()
                let task = Task { [actor = bench.actor!] in await actor.act() }
                bench.actor = nil
                await task.value
            }
        },
        KnownProgram(
            "a task that only some interleavings start is named as one", .dataRace,
            threads: ["first", "second", "task 3"]
        ) { scenario in
            let notebook = Notebook()
            scenario.thread("first") { notebook.value = 1 }
            scenario.thread("second") { if notebook.value == 1 { Task {} } }
        },
        KnownProgram(
            "a task is cancelled while its stream computes the next element",
            outcomes: ["2", "10", "11", "12", "21"], everyOrder: true
        ) { scenario in
            let seen = Seen()
            scenario.task("canceller") {
                let count = Count()
                let stream = AsyncStream<Int>(
                    unfolding: {
                        count.value.add(1, ordering: .relaxed).oldValue == 0 ? 0 : nil
                    }, onCancel: { count.value.add(10, ordering: .relaxed) })
                let task = Task { for await _ in stream {} }
                task.cancel()
                await task.value
                seen.note("\(count.value.load(ordering: .relaxed))")
            }
            scenario.outcome { seen.text }
        },
        KnownProgram(
            "a task is cancelled before or after it asks its stream for another element",
            outcomes: ["1", "1, 2"], everyOrder: true
        ) { scenario in
            let seen = Seen()
            scenario.task("canceller") {
                let (stream, input) = AsyncThrowingStream.makeStream(of: Int.self)
                let task = Task { try await stream.prefix(2).reduce(into: []) { $0.append($1) } }
                input.yield(1)
                task.cancel()
                input.yield(2)
                let all = (try? await task.value) ?? []
                seen.note(all.map { "\($0)" }.joined(separator: ", "))
            }
            scenario.outcome { seen.text }
        },
        KnownProgram(
            "independent tasks: each resumes a continuation that the other one awaits",
            explored: 4...4
        ) { scenario in
            for pair in ["first", "second"] {
                let gate = Gate()
                scenario.task("\(pair) waits") { await gate.pass() }
                scenario.thread("\(pair) opens") { gate.open() }
            }
        },
        KnownProgram(
            "independent tasks: each has a stream of its own", explored: 2...2, everyOrder: true
        ) { scenario in
            for name in ["first", "second"] {
                scenario.task(name) {
                    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
                    continuation.yield(1)
                    for await _ in stream { break }
                }
            }
        },
    ]

    private final class Count: Sendable {
        let value = Atomic(0)
    }

    @Test(
        "an executor that goes on while its job runs is inconclusive",
        arguments: TaskExample.uncontrolledExecutors)
    func executor(example: TaskExample) {
        KnownProgram(
            example.description, noVerdict: "executor", at: "TaskExecutors.swift", example.describe
        ).check()
    }
}

@globalActor private actor Actors {
    static let shared = Actors()

    @Actors private static func change(_ notebook: Notebook) { notebook.value += 1 }

    static func start(_ notebook: Notebook) async {
        Task(priority: .low) { @Actors in change(notebook) }
    }
}

private actor Ending {
    func act() {}
    isolated deinit {}
}

private final class Bench: @unchecked Sendable {
    var actor: Ending?
}
