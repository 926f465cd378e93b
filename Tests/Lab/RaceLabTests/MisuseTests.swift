import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Uses of locks, semaphores, continuations and memory that their documentation forbids.
@Suite("Misuse is reported", .needsTheLab)
struct MisuseTests {
    @Test("a semaphore is freed below its initial value", arguments: [1, 2, 3], [0, 1, 2, 3])
    func freedSemaphore(count: Int, signals: Int) {
        let waits = 1
        let reasons = Self.reasons { scenario in
            let semaphore = DispatchSemaphore(value: count)
            scenario.thread("user") {
                for _ in 0..<waits { semaphore.wait() }
                for _ in 0..<signals { semaphore.signal() }
            }
        }
        #expect(reasons.isEmpty == (signals >= waits))
        #expect(reasons.allSatisfy { $0.contains("less than the \(count) that it was made with") })
    }

    private static func reasons(_ describe: @escaping (Scenario) -> Void) -> [String] {
        let exploration = explore(describe)
        #expect(exploration.inconclusive == nil, "\(exploration.summary)")
        #expect(exploration.findings.allSatisfy { $0.kind == .misuse }, "\(exploration.text())")
        #expect(exploration.survives == exploration.findings.isEmpty)
        return exploration.findings.map(\.reason)
    }

    @Test("has its known result", arguments: semaphores + memory + locks)
    func known(_ program: KnownProgram) { program.check() }

    private static let semaphores = [
        KnownProgram(
            "a semaphore that a thread has created, with the place", .misuse,
            reason: ["with the count 0"]
        ) { scenario in
            scenario.thread("user") { DispatchSemaphore(value: 1).wait() }
        },
        KnownProgram("no misuse: a semaphore that is not freed") { scenario in
            let semaphore = DispatchSemaphore(value: 1)
            let keeps = Unmanaged.passRetained(semaphore)
            scenario.thread("user") { semaphore.wait() }
            scenario.check { _ = keeps }
        },
        KnownProgram("no misuse: a semaphore that lasts") { scenario in
            scenario.thread("user") {
                lasting.wait()
                lasting.signal()
            }
        },
    ]

    private static let lasting = DispatchSemaphore(value: 5)

    @Test("only the interleavings that misuse it count")
    func freedInSome() {
        let exploration = explore { scenario in
            let (semaphore, flag) = (DispatchSemaphore(value: 1), Shared())
            scenario.thread("user") {
                semaphore.wait()
                if flag.value == 0 { semaphore.signal() }
            }
            scenario.thread("other") { flag.value = 1 }
        }
        let misuse = exploration.findings.first { $0.kind == .misuse }
        #expect(misuse?.count == 1 && exploration.explored == 2, "\(exploration.text())")
    }

    @Test("two threads replace a reference at once, and both free the old object")
    func freedTwice() {
        let exploration = explore { scenario in
            scenario.thread("caller") {
                nonisolated(unsafe) var newest = Shared()
                DispatchQueue.concurrentPerform(iterations: 2) { _ in newest = Shared() }
                newest.value = 1
            }
        }
        let misuses = exploration.reasons(.misuse)
        #expect(exploration.inconclusive == nil && !misuses.isEmpty, "\(exploration.text())")
        #expect(misuses.allSatisfy { $0.hasSuffix("that has already been freed") })
        #expect(exploration.findings.contains { $0.kind == .overlap })
    }

    private final class Ending {
        let log: Scenario.Log<String>
        private let lock = NSLock()
        init(_ log: Scenario.Log<String>) { self.log = log }
        deinit { lock.withLock { log.append("ends") } }
    }

    @Test("an object that is released once too often ends once", arguments: [true, false])
    func releasedTwice(reduces: Bool) {
        var options = Exploration.Options()
        options.reduction = reduces
        let exploration = explore(options: options) { scenario in
            let log = Scenario.Log<String>()
            let object = Unmanaged.passRetained(Ending(log))
            let lock = NSLock()
            scenario.threads("first", "second") {
                lock.withLock {}
                object.release()
            }
            scenario.outcome { log.entries.joined(separator: ", ") }
        }
        #expect(exploration.outcomes.keys.sorted() == ["ends"], "\(exploration.text())")
        #expect(exploration.failing == exploration.explored)
        for thread in ["first", "second"] {
            let isTooLate = exploration.findings.contains { $0.reason.hasPrefix("'\(thread)'") }
            #expect(isTooLate, "\(thread)")
        }
        #expect(
            exploration.findings.allSatisfy {
                $0.kind == .misuse && $0.reason.hasSuffix("that has already been freed")
            })
    }

    @Test("each thread that frees the same memory too late is named, once in an interleaving")
    func freedByThree() {
        let exploration = explore { scenario in
            nonisolated(unsafe) let memory = UnsafeMutablePointer<Int>.allocate(capacity: 4)
            scenario.threads("first", "second", "third") {
                memory.deallocate()
                memory.deallocate()
            }
        }
        let misuses = exploration.findings.filter { $0.kind == .misuse }
        for thread in ["second", "third"] {
            let isNamed = misuses.contains { $0.reason.hasPrefix("'\(thread)' frees memory at") }
            #expect(isNamed, "\(exploration.text())")
        }
        #expect(misuses.allSatisfy { $0.count <= exploration.explored })
    }

    private static let memory = [
        KnownProgram(
            "two threads free the same memory, and do nothing else", .misuse,
            reason: ["frees memory at"]
        ) { scenario in
            nonisolated(unsafe) let memory = UnsafeMutablePointer<Int>.allocate(capacity: 4)
            scenario.threads("first", "second") { memory.deallocate() }
        },
        KnownProgram(
            "memory is freed after it has moved", .misuse,
            sentence: "'only' frees memory at \(place(7)) that has already been freed"
        ) { scenario in
            let log = Scenario.Log<Int>()
            scenario.thread("only") {
                let memory = malloc(64)
                log.append(1)
                let moved = realloc(memory, 100_000)
                free(memory)
                free(moved)
            }
        },
        KnownProgram(
            "memory is moved after it has been freed", .misuse,
            sentence: "'only' frees memory at \(place(7)) that has already been freed"
        ) { scenario in
            let log = Scenario.Log<Int>()
            scenario.thread("only") {
                let memory = malloc(64)
                log.append(1)
                free(memory)
                free(realloc(memory, 100_000))
            }
        },
        KnownProgram("no misuse: memory that moves keeps what it holds") { scenario in
            let log = Scenario.Log<Int>()
            scenario.thread("only") {
                var memory = malloc(8)!
                memory.storeBytes(of: 7, as: Int.self)
                for size in [16, 100_000, 8] { memory = realloc(memory, size)! }
                log.append(memory.load(as: Int.self))
                free(memory)
            }
            scenario.check { try Scenario.require(log.entries == [7], "\(log.entries)") }
        },
        KnownProgram(
            "no misuse: an object that one thread allocates and the other frees, again and again"
        ) { scenario in
            let newest = Box(Mutex(Shared()))
            scenario.threads("first", "second") {
                for _ in 0..<2 { newest.value.withLock { $0 = Shared() } }
            }
        },
    ]

    private static let locks = [
        KnownProgram(
            "a lock that no thread holds is released", .misuse,
            sentence: "'user' releases a lock at \(place(3)) that no thread holds"
        ) { scenario in
            let lock = NSLock()
            scenario.thread("user") { lock.unlock() }
        },
        KnownProgram(
            "a recursive lock is released too often", .misuse,
            sentence: "'user' releases a lock at \(place(6)) that no thread holds"
        ) { scenario in
            let lock = NSRecursiveLock()
            scenario.thread("user") {
                lock.lock()
                lock.lock()
                for _ in 0..<3 { lock.unlock() }
            }
        },
        KnownProgram(
            "a readers-writer lock that is free is released", .misuse,
            sentence: "'user' releases a lock at \(ReadWriteLock.unlocks) that no thread holds"
        ) { scenario in
            let lock = ReadWriteLock()
            scenario.thread("user") { lock.unlock() }
        },
        KnownProgram(
            "a lock that is released while another thread holds it, and only then", .misuse,
            sentence: "'other' releases a lock at \(place(9)) that another thread holds"
        ) { scenario in
            let (lock, isTaken) = (NSLock(), DispatchSemaphore(value: 0))
            scenario.thread("owner") {
                lock.lock()
                isTaken.signal()
            }
            scenario.thread("other") {
                isTaken.wait()
                lock.unlock()
            }
        },
        KnownProgram(
            "a condition that is waited for without its lock", .misuse, .deadlock,
            reason: ["without holding its lock"]
        ) { scenario in
            let condition = NSCondition()
            scenario.thread("waits") {
                condition.wait()
                condition.unlock()
            }
            scenario.thread("signals") { condition.signal() }
        },
        KnownProgram("a lock that was taken during set-up may be released by a thread") {
            scenario in
            let lock = NSLock()
            lock.lock()
            scenario.thread("user") { lock.unlock() }
        },
    ]

    // MARK: Unsafe continuations

    private typealias Unsafe = UnsafeContinuation<Void, Never>
    private typealias Throwing = UnsafeContinuation<Void, any Error>

    private static func resumedTwice(at line: Int) -> String {
        "resumes a continuation at MisuseTests.swift:\(line) that has already been resumed"
    }

    /// Expects a report, at this line, of what `use` does with a continuation in a separate task.
    private static func expectMisuse(
        at line: Int, _ use: @escaping @Sendable (Throwing) -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let reasons = Self.reasons { scenario in
            scenario.task("waiter") {
                try? await withUnsafeThrowingContinuation { (continuation: Throwing) in
                    Task { use(continuation) }
                }
            }
        }
        let reason = "'task 2' \(resumedTwice(at: line))"
        #expect(reasons == [reason], sourceLocation: sourceLocation)
    }

    @Test(
        "an unsafe continuation that is resumed twice in a row, in whichever way",
        .enabled(if: unavailableTasks == nil))
    func resumedTwiceInARow() {
        Self.expectMisuse(at: #line + 2) {
            $0.resume()
            $0.resume()
        }
        Self.expectMisuse(at: #line + 2) {
            $0.resume(throwing: CancellationError())
            $0.resume()
        }
        Self.expectMisuse(at: #line + 2) {
            $0.resume()
            $0.resume(throwing: CancellationError())
        }
        Self.expectMisuse(at: #line + 2) {
            CheckedContinuation(continuation: $0).resume()
            $0.resume()
        }
        let isOver = Mutex(false)
        Self.expectMisuse(at: #line + 3) {
            $0.resume()
            isOver.withLock { $0 = true }
            $0.resume()
        }
    }

    @Test("a continuation that two tasks resume", .enabled(if: unavailableTasks == nil))
    func resumedByTwo() {
        let line = #line + 5
        let reasons = Self.reasons { scenario in
            scenario.task("waiter") {
                await withUnsafeContinuation { (continuation: Unsafe) in
                    for _ in 1...2 {
                        Task { continuation.resume() }
                    }
                }
            }
        }
        let reason = Self.resumedTwice(at: line)
        #expect(Set(reasons) == ["'task 2' \(reason)", "'task 3' \(reason)"])
    }

    /// Only the task identifies a continuation. The second call would resume the next one.
    @Test("a continuation whose task waits for another one", .enabled(if: unavailableTasks == nil))
    func resumedBeforeNext() throws {
        let line = #line + 10
        let exploration = explore { scenario in
            let marks = Protected()
            scenario.task("waiter") {
                for round in 1...2 {
                    await withUnsafeContinuation { (continuation: Unsafe) in
                        Task {
                            continuation.resume()
                            guard round == 1 else { return }
                            marks.add(round)
                            continuation.resume()
                        }
                    }
                }
            }
        }
        #expect(
            exploration.inconclusive == nil && exploration.findings.count == 1,
            "\(exploration.text())")
        let finding = try #require(exploration.findings.first)
        #expect(finding.kind == .misuse && finding.reason.contains("MisuseTests.swift:\(line) "))
        #expect(finding.count == exploration.explored, "in every interleaving")
    }

    @Test(
        "a continuation has its known result", .enabled(if: unavailableTasks == nil),
        arguments: continuations)
    func knownContinuation(_ program: KnownProgram) { program.check() }

    private static let continuations = [
        KnownProgram(
            "that the task resumes twice", .misuse, reason: ["'waiter' resumes a continuation"]
        ) { scenario in
            scenario.task("waiter") {
                await withUnsafeContinuation { (continuation: Unsafe) in
                    continuation.resume()
                    continuation.resume()
                }
            }
        },
        KnownProgram("no misuse: the next one, however it is resumed") { scenario in
            scenario.task("waiter") {
                for _ in 1...2 {
                    await withUnsafeContinuation { $0.resume() }
                    await withUnsafeContinuation { continuation in
                        DispatchQueue.global().async { continuation.resume() }
                    }
                    await withCheckedContinuation { continuation in
                        Task { continuation.resume() }
                    }
                }
            }
        },
        // The compiler copies `withUnsafeContinuation` into the program, without lines.
        KnownProgram(
            "that is never resumed", .deadlock,
            sentence: "'waiter' waits at \(place(3)) to be resumed"
        ) { scenario in
            scenario.task("waiter") {
                await withUnsafeContinuation { (_: Unsafe) in }
            }
        },
    ]
}
