#if os(Linux)
    import Foundation
    import RaceLabTesting
    import SharedSuite
    import Synchronization
    import Testing

    @testable import RaceLab

    /// The table of WhatTheLabSees.md about what code can do beside its steps: a program for each row.
    @Suite("What code can do beside its steps", .needsTheLab)
    struct BesideTests {
        private struct Pair {
            var first = 0
            var second = 0
        }

        private final class Shared: @unchecked Sendable {
            @exclusivity(unchecked) var unchecked = 0
            let memory = UnsafeMutablePointer<Int>.allocate(capacity: 2)
            var seed: UInt32 = 1
            var mutex = pthread_mutex_t()
            var value = 0
            let lock = NSLock()
            let locked = LockWithoutTheSetting()
            let without = UncheckedWithoutTheSetting()
            let pair = UnsafeMutablePointer<Pair>.allocate(capacity: 1)
            let word = Atomic(0)

            init() {
                memory.initialize(repeating: 0, count: 2)
                pair.initialize(to: Pair())
            }

            deinit {
                memory.deallocate()
                pair.deallocate()
            }
        }

        nonisolated(unsafe) private static var last = 0
        private static let file = FileManager.default.temporaryDirectory
            .appending(path: "beside-\(getpid())").path

        private static func write(_ path: String) {
            let file = open(path, O_WRONLY | O_CREAT, 0o600)
            _ = Glibc.write(file, "x", 1)
            close(file)
        }

        private static func look(_ path: String) { _ = access(path, F_OK) }

        /// What two threads do; each also takes a lock, so that there are steps.
        private static func explored(
            isolated: Bool = false, _ body: @escaping @Sendable (Shared, Bool) -> Void
        ) -> Exploration {
            var options = Exploration.Options()
            if isolated { options.isolation = .childProcess() }
            return explore(options: options) { scenario in
                let shared = Shared()
                for isFirst in [true, false] {
                    scenario.thread(isFirst ? "first" : "second") {
                        shared.lock.withLock { shared.value += 1 }
                        body(shared, isFirst)
                    }
                }
                scenario.outcome { "\(shared.value)" }
            }
        }

        private static func transparent() -> Exploration {
            explore { scenario in
                let cell = GenericCell(0)
                for name in ["first", "second"] {
                    scenario.thread(name) {
                        let seen = cell.value
                        cell.value = seen + 1
                    }
                }
                scenario.check { try Scenario.require(cell.value == 2, "an update was lost") }
            }
        }

        private static func countOnTwoThreads() {
            var count = 0
            func run(_ add: () -> Void) {
                withoutActuallyEscaping(add) { add in
                    nonisolated(unsafe) let add = add
                    let end = DispatchSemaphore(value: 0)
                    Thread {
                        add()
                        end.signal()
                    }.start()
                    add()
                    end.wait()
                }
            }
            run { count += 1 }
            precondition(count == 2)
        }

        private static func escalated() -> Exploration {
            explore { scenario in
                let shared = Shared()
                scenario.task("waits") {
                    let task = Task(priority: .low) {
                        await withTaskPriorityEscalationHandler {
                            await Task.yield()
                        } onPriorityEscalated: { _, _ in
                            shared.lock.withLock { shared.value += 1 }
                        }
                    }
                    task.escalatePriority(to: .high)
                    await task.value
                }
                scenario.check { try Scenario.require(shared.value == 0, "it was called") }
            }
        }

        private static func afterAwait() -> Exploration {
            explore { scenario in
                for name in ["first", "second"] {
                    scenario.task(name) {
                        let thread = pthread_self()
                        await Task.yield()
                        precondition(thread == pthread_self())
                    }
                }
            }
        }

        /// The programs, by the beginning of their row. "seen!": there is a bug, which is found.
        private static let programs:
            [(row: String, result: String, run: @Sendable () -> Exploration)] = [
                ("atomics in copies of transparent functions", "seen!", transparent),
                (
                    "properties with `@exclusivity(unchecked)`", "seen!",
                    { explored { s, _ in s.unchecked += 1 } }
                ),
                (
                    "properties with `@exclusivity(unchecked)`", "seen!",
                    { explored { s, _ in s.memory[1] += 1 } }
                ),
                (
                    "the same without the setting", "not seen",
                    { explored { s, _ in s.without.increment() } }
                ),
                (
                    "memory behind unsafe pointers that", "not seen",
                    {
                        explored { s, isFirst in
                            (s.memory + 1).update(from: s.memory, count: 1)
                            (s.memory + 1).initialize(to: isFirst ? 1 : 2)
                        }
                    }
                ),
                (
                    "fields of a structure", "seen!",
                    {
                        explored { s, isFirst in
                            if isFirst {
                                s.pair.pointee.first += 1
                            } else {
                                s.pair.pointee.second += 1
                            }
                        }
                    }
                ),
                (
                    "variables that closures capture", "not seen",
                    { explored { _, isFirst in if isFirst { countOnTwoThreads() } } }
                ),
                (
                    "a `Mutex` without the setting", "inconclusive",
                    { explored { s, _ in s.locked.increment() } }
                ),
                (
                    "other uses of `Mutex`", "not seen",
                    { explored { s, isFirst in s.without.lockBoth(inOrder: isFirst) } }
                ),
                (
                    "memory that C code accesses", "not seen",
                    { explored { s, isFirst in memset(s.memory, isFirst ? 1 : 2, 8) } }
                ),
                (
                    "locks, conditions and semaphores", "seen",
                    {
                        explored { s, _ in
                            pthread_mutex_lock(&s.mutex)
                            s.seed += 1
                            pthread_mutex_unlock(&s.mutex)
                        }
                    }
                ),
                (
                    "variables that two threads pass", "inconclusive",
                    { explored { s, _ in _ = rand_r(&s.seed) } }
                ),
                ("random numbers", "seeded", { explored { _, _ in _ = Int.random(in: 0..<8) } }),
                ("the order of a set", "seen", { explored { _, _ in _ = Set(["a", "b"]).first } }),
                ("the clocks", "seen", { explored { _, _ in _ = (Date(), ContinuousClock.now) } }),
                (
                    "files, pipes, standard input", "inconclusive",
                    { explored { _, isFirst in isFirst ? write(file) : look(file) } }
                ),
                (
                    "sockets that two threads use", "inconclusive",
                    {
                        explored { _, _ in
                            let one = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
                            _ = send(one, "x", 1, 0)
                            close(one)
                        }
                    }
                ),
                (
                    "standard output", "seen",
                    {
                        explored { _, isFirst in
                            print("", terminator: "")
                            write(file + (isFirst ? "1" : "2"))
                        }
                    }
                ),
                (
                    "an environment variable", "inconclusive",
                    {
                        explored { _, isFirst in
                            if isFirst { setenv("BESIDE", "1", 1) } else { _ = getenv("BESIDE") }
                        }
                    }
                ),
                (
                    "changes of the current directory", "inconclusive",
                    { explored { _, _ in chdir(".") } }
                ),
                (
                    "changes of the current directory", "inconclusive",
                    { explored { _, _ in _ = setlocale(LC_ALL, "C") } }
                ),
                (
                    "changes of the current directory", "inconclusive",
                    { explored { _, _ in _ = signal(SIGUSR1, SIG_IGN) } }
                ),
                ("timers that send a signal", "inconclusive", { explored { _, _ in alarm(1000) } }),
                (
                    "state that an earlier run", "inconclusive",
                    {
                        last = 0
                        return explored { s, _ in
                            s.lock.withLock { last += 1 }
                            s.value += last
                        }
                    }
                ),
                ("`exit`", "seen!", { explored(isolated: true) { _, _ in exit(0) } }),
                (
                    "a crash", "seen!",
                    { explored(isolated: true) { _, _ in fatalError("on purpose") } }
                ),
                (
                    "a crash", "seen!",
                    {
                        explored(isolated: true) { _, _ in
                            var ends: [Int32] = [0, 0]
                            pipe(&ends)
                            close(ends[0])
                            _ = Glibc.write(ends[1], "x", 1)
                        }
                    }
                ),
                (
                    "a thread of the scenario that calls", "inconclusive",
                    { explored { _, _ in pthread_exit(nil) } }
                ),
                (
                    "`weakCompareExchange`", "not seen",
                    {
                        explored { s, _ in
                            let expected = s.word.load(ordering: .relaxed)
                            let result = s.word.weakCompareExchange(
                                expected: expected, desired: expected, ordering: .relaxed)
                            precondition(result.exchanged)
                        }
                    }
                ),
                ("a handler for the escalation", "not seen", escalated),
                ("values that belong to a thread", "not seen", afterAwait),
                (
                    "memory that is used after", "not seen",
                    {
                        explored { s, isFirst in
                            guard isFirst else { return }
                            let memory = UnsafeMutablePointer<Int>.allocate(capacity: 4)
                            memory.deallocate()
                            memory[0] = 1
                        }
                    }
                ),
                (
                    "the names of temporary files", "not seen",
                    {
                        explored { _, _ in
                            var name = Array("\(file)-XXXXXX".utf8CString)
                            close(mkstemp(&name))
                            unlink(name)
                        }
                    }
                ),
                (
                    "a signal for a thread", "inconclusive",
                    { explored { _, _ in pthread_kill(pthread_self(), SIGURG) } }
                ),
                ("a sleep", "inconclusive", { explored { _, _ in _ = poll(nil, 0, 1500) } }),
            ]

        private static func result(_ exploration: Exploration) -> String {
            if exploration.inconclusive != nil { return "inconclusive" }
            if exploration.failing > 0 { return "seen!" }
            return exploration.randomSeed == nil ? "survives" : "seeded"
        }

        @Test("each row says what a program shows", arguments: programs.indices)
        func row(index: Int) throws {
            let program = Self.programs[index]
            let rows = try Self.rows()
            let written = try #require(rows.first { $0.what.hasPrefix(program.row) })
            let word = program.result.filter { $0 != "!" }
            #expect(written.result.hasPrefix(word), "\(program.row)")
            let exploration = program.run()
            let expected =
                ["seen", "not seen"].contains(program.result) ? "survives" : program.result
            #expect(Self.result(exploration) == expected, "\(program.row): \(exploration.summary)")
            for path in [Self.file, Self.file + "1", Self.file + "2"] { unlink(path) }
        }

        @Test("each row has a program")
        func rows() throws {
            for row in try Self.rows() {
                #expect(Self.programs.contains { row.what.hasPrefix($0.row) }, "\(row.what)")
            }
        }

        private static func rows() throws -> [(what: String, result: String)] {
            let page = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../Lab/RaceLab/RaceLab.docc/WhatTheLabSees.md")
            let text = try String(contentsOf: page, encoding: .utf8)
            let lines = text.components(separatedBy: "\n")
            let start = try #require(lines.firstIndex(of: "## What code can do beside its steps"))
            let rows = lines[start...].drop { !$0.hasPrefix("| ---") }.dropFirst()
                .prefix { $0.hasPrefix("| ") }
            return rows.map { line in
                let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
                return (cells[0], cells[1])
            }
        }
    }
#endif
