#if os(Linux)
    import Foundation
    import Observation
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
            let semaphore = DispatchSemaphore(value: 0)
            let locked = LockWithoutTheSetting()
            let without = UncheckedWithoutTheSetting()
            let pair = UnsafeMutablePointer<Pair>.allocate(capacity: 1)
            let word = Atomic(0)
            let rounds = Mutex(0)

            init() {
                memory.initialize(repeating: 0, count: 2)
                pair.initialize(to: Pair())
            }

            deinit {
                memory.deallocate()
                pair.deallocate()
            }
        }

        private final class Values: @unchecked Sendable {
            var all = [0, 0]
            var address: UnsafeRawPointer? {
                all.withUnsafeBytes { $0.baseAddress }
            }
        }

        private static let file = FileManager.default.temporaryDirectory
            .appending(path: "beside-\(getpid())").path

        private static func write(_ path: String) {
            let file = open(path, O_WRONLY | O_CREAT, 0o600)
            _ = Glibc.write(file, "x", 1)
            close(file)
        }

        private static func look(_ path: String) { _ = access(path, F_OK) }

        /// A program for the row that begins with these words.
        private struct Program: Sendable {
            let row: String
            /// The beginning of what the row says. "seen!": there is a bug, which is found.
            let result: String
            /// Part of what is reported as uncontrolled, if a program for this is compared.
            let words: String
            let run: @Sendable () -> Exploration

            init(
                _ row: String, _ result: String, naming words: String = "",
                run: @escaping @Sendable () -> Exploration
            ) {
                (self.row, self.result, self.words, self.run) = (row, result, words, run)
            }

            /// What two threads do; each also takes a lock, so that there are steps.
            init(
                _ row: String, _ result: String, naming words: String = "",
                options: Exploration.Options = Exploration.Options(),
                _ body: @escaping @Sendable (_ shared: Shared, _ isFirst: Bool) -> Void
            ) {
                self.init(row, result, naming: words) {
                    explore(options: options) { scenario in
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
            }
        }

        private final class Leaf {
            let value: Int

            init(_ value: Int) { self.value = value }
        }

        private final class Node<Value> {
            let value: Value

            init(_ value: Value) { self.value = value }
        }

        /// One thread passes an object on, with a memory ordering that is too weak for that.
        private static func passOn<Object: AnyObject>(
            _ isFirst: Bool, _ word: borrowing Atomic<Int>, _ object: Object, use: (Object) -> Void
        ) {
            if isFirst {
                let address = Unmanaged.passRetained(object).toOpaque()
                word.store(Int(bitPattern: address), ordering: .relaxed)
            } else if let address = UnsafeRawPointer(bitPattern: word.load(ordering: .relaxed)) {
                use(Unmanaged<Object>.fromOpaque(address).takeUnretainedValue())
            }
        }

        nonisolated(unsafe) private static var balance = 100
        nonisolated(unsafe) private static var isWarm = [false, false, false]

        /// Only the very first run has this race.
        private static func warm(_ shared: Shared, _ place: Int) {
            if !shared.lock.withLock({ isWarm[place] }) {
                shared.value += 1
                shared.lock.withLock { isWarm[place] = true }
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

        private static func mapped() -> Exploration {
            explore { scenario in
                let shared = Shared()
                let one = open(file, O_RDWR | O_CREAT, 0o600)
                ftruncate(one, 1)
                let memory = mmap(nil, 1, PROT_READ, Int32(MAP_SHARED), one, 0)!
                nonisolated(unsafe) let bytes = memory
                scenario.thread("writes") {
                    shared.lock.withLock {}
                    _ = Glibc.write(one, "x", 1)
                }
                scenario.thread("reads") {
                    shared.lock.withLock {}
                    _ = bytes.load(as: UInt8.self)
                }
                scenario.check {
                    munmap(bytes, 1)
                    close(one)
                }
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

        private static let programs = [
            Program(
                "atomics in copies of transparent functions", "seen!",
                run: GenericCell.explored),
            Program("properties with `@exclusivity(unchecked)`", "seen!") { shared, _ in
                shared.unchecked += 1
            },
            Program("the same without the setting", "not seen") { shared, _ in
                shared.without.increment()
            },
            Program("memory behind unsafe pointers that", "not seen") { shared, isFirst in
                (shared.memory + 1).update(from: shared.memory, count: 1)
                (shared.memory + 1).initialize(to: isFirst ? 1 : 2)
            },
            Program("objects with properties of a", "inconclusive") { shared, isFirst in
                passOn(isFirst, shared.word, Node(5)) { precondition($0.value == 5) }
            },
            Program("objects with other properties only", "seen!") { shared, isFirst in
                passOn(isFirst, shared.word, Leaf(5)) { precondition($0.value == 5) }
            },
            Program("fields of a structure", "seen!") { shared, isFirst in
                if isFirst { shared.pair.pointee.first += 1 }
                if !isFirst { shared.pair.pointee.second += 1 }
            },
            Program("variables that closures capture", "not seen") { _, isFirst in
                if isFirst { countOnTwoThreads() }
            },
            Program("a `Mutex` without the setting", "inconclusive") { shared, _ in
                shared.locked.increment()
            },
            Program("other uses of `Mutex`", "not seen") { shared, isFirst in
                shared.without.lockBoth(inOrder: isFirst)
            },
            Program("memory that C code accesses", "not seen") { shared, isFirst in
                memset(shared.memory, isFirst ? 1 : 2, 8)
            },
            Program("locks, conditions and semaphores", "seen") { shared, _ in
                pthread_mutex_lock(&shared.mutex)
                shared.seed += 1
                pthread_mutex_unlock(&shared.mutex)
            },
            Program(
                "variables that two threads pass", "inconclusive",
                naming: "passes a variable by pointer"
            ) { shared, _ in
                _ = rand_r(&shared.seed)
            },
            Program("random numbers", "seeded") { _, _ in _ = Int.random(in: 0..<8) },
            Program("the order of a set", "seen") { _, _ in _ = Set(["a", "b"]).first },
            Program("the clocks", "seen") { _, _ in _ = (Date(), ContinuousClock.now) },
            Program("files, pipes, standard input", "inconclusive") { _, isFirst in
                isFirst ? write(file) : look(file)
            },
            Program("sockets that two threads use", "inconclusive") { _, _ in
                let one = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
                _ = send(one, "x", 1, 0)
                close(one)
            },
            Program("standard output", "seen") { _, isFirst in
                print("", terminator: "")
                write(file + (isFirst ? "1" : "2"))
            },
            Program(
                "an environment variable", "inconclusive", naming: "environment variable"
            ) { _, isFirst in
                if isFirst { setenv("BESIDE", "1", 1) } else { _ = getenv("BESIDE") }
            },
            Program("changes of the current directory", "inconclusive") { _, _ in chdir(".") },
            Program("changes of the current directory", "inconclusive", naming: "locale") { _, _ in
                _ = setlocale(LC_ALL, "C")
            },
            Program("changes of the current directory", "inconclusive", naming: "signal") { _, _ in
                _ = signal(SIGUSR1, SIG_IGN)
            },
            Program("changes of the current directory", "inconclusive", naming: "limit") { _, _ in
                var limit = rlimit(rlim_cur: 0, rlim_max: 0)
                setrlimit(__rlimit_resource_t(4), &limit)
            },
            Program("timers that send a signal", "inconclusive") { _, _ in alarm(1000) },
            Program("state that an earlier run", "inconclusive") { _, _ in
                if balance >= 80 { balance -= 80 }
            },
            Program("state that an earlier run", "inconclusive") { shared, _ in
                warm(shared, 0)
            },
            Program("state that an earlier run", "inconclusive", options: .isolated) { shared, _ in
                warm(shared, 1)
            },
            Program("state that an earlier run", "inconclusive") { shared, _ in
                // The exploration starts over.
                shared.word.add(1, ordering: .relaxed)
                warm(shared, 2)
            },
            Program("`exit`", "seen!", options: .isolated) { _, _ in exit(0) },
            Program("a crash", "seen!", options: .isolated) { _, _ in fatalError("on purpose") },
            Program("a crash", "seen!", options: .isolated) { _, _ in
                var ends: [Int32] = [0, 0]
                pipe(&ends)
                close(ends[0])
                _ = Glibc.write(ends[1], "x", 1)
            },
            Program("a thread of the scenario that calls", "inconclusive") { _, _ in
                pthread_exit(nil)
            },
            Program("`weakCompareExchange`", "not seen") { shared, _ in
                let expected = shared.word.load(ordering: .relaxed)
                let result = shared.word.weakCompareExchange(
                    expected: expected, desired: expected, ordering: .relaxed)
                precondition(result.exchanged)
            },
            Program("what `signal` of a `DispatchSemaphore`", "not seen") { shared, isFirst in
                if isFirst { shared.semaphore.wait() }
                if !isFirst { precondition(shared.semaphore.signal() == 0) }
            },
            Program("a handler for the escalation", "not seen", run: escalated),
            Program("the priority of a task", "inconclusive", naming: "reads its priority") {
                explore { scenario in
                    scenario.task("urgent") {
                        await Task.detached(priority: .background) { _ = Task.currentPriority }
                            .value
                    }
                }
            },
            Program("values of queues", "seen!") {
                explore { scenario in
                    let (queue, key) = (DispatchQueue(label: "q"), DispatchSpecificKey<Int>())
                    let seen = Scenario.Log<Int?>()
                    scenario.thread("writer") { queue.setSpecific(key: key, value: 1) }
                    scenario.thread("reader") { seen.append(queue.getSpecific(key: key)) }
                    scenario.check { try Scenario.require(seen.entries == [nil], "it is there") }
                }
            },
            Program("objects of Foundation that guard", "seen!") {
                explore { scenario in
                    let cache = NSCache<NSString, NSNumber>()
                    let misses = Scenario.Log<Int>()
                    scenario.threads("first", "second") {
                        let isThere = cache.object(forKey: "key") != nil
                        cache.setObject(1, forKey: "key")
                        if !isThere { misses.append(1) }
                    }
                    scenario.check { try Scenario.require(misses.entries.count < 2, "both") }
                }
            },
            Program("properties of an `@Observable`", "seen!") {
                explore { scenario in
                    let (observed, lock) = (Observed(), NSLock())
                    let seen = Scenario.Log<Int>()
                    scenario.thread("observer") {
                        withObservationTracking {
                            seen.append(lock.withLock { observed.value })
                        } onChange: {
                            seen.append(1)
                        }
                    }
                    scenario.thread("writer") { lock.withLock { observed.value = 1 } }
                    scenario.check { try Scenario.require(seen.entries != [0], "not noticed") }
                }
            },
            Program("values that belong to a thread, where", "not seen", run: afterAwait),
            Program("memory that is used after", "not seen") { _, isFirst in
                guard isFirst else { return }
                let memory = UnsafeMutablePointer<Int>.allocate(capacity: 4)
                memory.deallocate()
                memory[0] = 1
            },
            Program("values that belong to a thread (", "inconclusive") { shared, _ in
                let values = Thread.current.threadDictionary
                if values["beside"] == nil { shared.lock.withLock { shared.value += 1 } }
                values["beside"] = 1
            },
            Program("the names of temporary files", "not seen") { _, _ in
                var name = Array("\(file)-XXXXXX".utf8CString)
                close(mkstemp(&name))
                unlink(name)
            },
            Program("a signal for a thread", "inconclusive") { _, _ in
                pthread_kill(pthread_self(), SIGURG)
            },
            Program("a signal for a thread", "inconclusive", naming: "signal") { _, _ in
                kill(getpid(), SIGURG)
            },
            Program("the handler of a signal that", "seen") { _, _ in raise(SIGURG) },
            Program("the variable `environ`", "not seen") { _, isFirst in
                if isFirst { setenv("BESIDE", "1", 1) } else { _ = environ.pointee }
            },
            Program("files that a program uses", "not seen") { _, isFirst in
                if isFirst { _ = system("touch \(file)") } else { look(file) }
            },
            Program("folders below a wildcard", "not seen") { _, isFirst in
                var found = glob_t()
                if isFirst { return write(file) }
                glob("/*/beside-*", 0, nil, &found)
                globfree(&found)
            },
            Program("the memory of a file", "not seen", run: mapped),
            Program("a sleep", "seen") { _, _ in Thread.sleep(forTimeInterval: 3600) },
            Program("an address that memory gets again", "not seen") { _, isFirst in
                guard isFirst else { return }
                let first = UnsafeMutablePointer<Int>.allocate(capacity: 6)
                first.deallocate()
                let second = UnsafeMutablePointer<Int>.allocate(capacity: 6)
                precondition(first != second)
                second.deallocate()
            },
            Program("whether an array", "not seen") {
                explore { scenario in
                    let (lock, values, shared) = (NSLock(), Values(), Shared())
                    var isSame = true
                    scenario.thread("changes") {
                        lock.withLock {
                            let before = values.address
                            values.all[0] = 1
                            isSame = values.address == before
                        }
                    }
                    scenario.thread("keeps") {
                        let kept = lock.withLock { values.all }
                        shared.word.store(1, ordering: .sequentiallyConsistent)
                        withExtendedLifetime(kept) {}
                    }
                    scenario.check { try Scenario.require(isSame, "it was copied") }
                }
            },
            Program("a loop that gives up", "not seen") { shared, isFirst in
                if !isFirst { return shared.word.store(1, ordering: .sequentiallyConsistent) }
                while shared.word.load(ordering: .sequentiallyConsistent) == 0 {
                    let isOver = shared.rounds.withLock { rounds in
                        rounds += 1
                        return rounds > 5_000
                    }
                    precondition(!isOver)
                }
            },
            Program("another wait", "inconclusive") { _, _ in _ = poll(nil, 0, 1500) },
            Program("a loop that waits and counts", "inconclusive") { shared, isFirst in
                if !isFirst { return shared.word.store(1, ordering: .sequentiallyConsistent) }
                var rounds = 0
                while shared.word.load(ordering: .sequentiallyConsistent) == 0 { rounds += 1 }
            },
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
            if !program.words.isEmpty {
                let (what, place) = try #require(exploration.uncontrolled)
                #expect(what.contains(program.words) && place.hasPrefix("BesideTests.swift:"))
            }
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
