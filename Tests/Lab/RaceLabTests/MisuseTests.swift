import Dispatch
import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Uses of locks, semaphores, continuations and memory that their documentation forbids.
@Suite("Misuse is reported", .needsTheLab)
struct MisuseTests {
    private static func reasons(_ describe: @escaping (Scenario) -> Void) -> [String] {
        let exploration = explore(describe)
        #expect(exploration.inconclusive == nil, "\(exploration.summary)")
        #expect(exploration.findings.allSatisfy { $0.kind == .misuse }, "\(exploration.text())")
        #expect(exploration.survives == exploration.findings.isEmpty)
        return exploration.findings.map(\.reason)
    }

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

    @Test("a semaphore that a thread has created, with the place")
    func freedInThread() {
        let reasons = Self.reasons { scenario in
            scenario.thread("user") { DispatchSemaphore(value: 1).wait() }
        }
        #expect(reasons.count == 1)
        #expect(reasons[0].contains("with the count 0"), "\(reasons)")
    }

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
        let misuses = exploration.findings.filter { $0.kind == .misuse }
        #expect(exploration.inconclusive == nil && !misuses.isEmpty, "\(exploration.text())")
        #expect(misuses.allSatisfy { $0.reason.hasSuffix("that has already been freed") })
        #expect(exploration.findings.contains { $0.kind == .overlap })
    }

    @Test("two threads free the same memory, and do nothing else")
    func freedOnly() {
        let reasons = Self.reasons { scenario in
            nonisolated(unsafe) let memory = UnsafeMutablePointer<Int>.allocate(capacity: 4)
            for name in ["first", "second"] { scenario.thread(name) { memory.deallocate() } }
        }
        #expect(reasons.count == 1 && reasons[0].contains("frees memory at"))
    }

    @Test("memory is freed after it has moved, or moved after it has been freed")
    func freedAndMoved() {
        for movesFirst in [true, false] {
            let reasons = Self.reasons { scenario in
                let log = Scenario.Log<Int>()
                scenario.thread("only") {
                    let memory = malloc(64)
                    log.append(1)
                    if !movesFirst { free(memory) }
                    let moved = realloc(memory, 100_000)
                    if movesFirst { free(memory) }
                    free(moved)
                }
            }
            #expect(reasons.count == 1, "\(reasons)")
        }
    }

    @Test("no misuse: memory that moves keeps what it holds")
    func moved() {
        let reasons = Self.reasons { scenario in
            let log = Scenario.Log<Int>()
            scenario.thread("only") {
                var memory = malloc(8)!
                memory.storeBytes(of: 7, as: Int.self)
                for size in [16, 100_000, 8] { memory = realloc(memory, size)! }
                log.append(memory.load(as: Int.self))
                free(memory)
            }
            scenario.check { try Scenario.require(log.entries == [7], "\(log.entries)") }
        }
        #expect(reasons.isEmpty)
    }

    @Test("no misuse: an object that one thread allocates and the other frees, again and again")
    func freedOnce() {
        let exploration = explore { scenario in
            let newest = Mutex(Shared())
            for name in ["first", "second"] {
                scenario.thread(name) {
                    for _ in 0..<2 { newest.withLock { $0 = Shared() } }
                }
            }
        }
        #expect(exploration.survives, "\(exploration.text())")
    }

    private static let lasting = DispatchSemaphore(value: 5)

    @Test("no misuse: a semaphore that is not freed, or was created with 0")
    func notFreed() {
        #expect(
            Self.reasons { scenario in
                let semaphore = DispatchSemaphore(value: 1)
                let keeps = Unmanaged.passRetained(semaphore)
                scenario.thread("user") { semaphore.wait() }
                scenario.check { _ = keeps }
            } == [])
        #expect(
            Self.reasons { scenario in
                scenario.thread("user") {
                    Self.lasting.wait()
                    Self.lasting.signal()
                }
            } == [])
        #expect(
            Self.reasons { scenario in
                let semaphore = DispatchSemaphore(value: 0)
                scenario.thread("first") { semaphore.wait() }
                scenario.thread("second") { semaphore.signal() }
            } == [])
    }

    @Test("a lock that is released while no thread holds it")
    func freeLocks() {
        let lock = "that no thread holds"
        #expect(
            Self.reasons { scenario in
                let lock = NSLock()
                scenario.thread("user") { lock.unlock() }
            }.map { $0.hasSuffix(lock) } == [true])
        #expect(
            Self.reasons { scenario in
                let lock = NSLock()
                scenario.thread("user") {
                    lock.lock()
                    lock.unlock()
                    lock.unlock()
                }
            }.map { $0.hasSuffix(lock) } == [true])
        #expect(
            Self.reasons { scenario in
                let lock = NSRecursiveLock()
                scenario.thread("user") {
                    lock.lock()
                    lock.lock()
                    for _ in 0..<3 { lock.unlock() }
                }
            }.map { $0.hasSuffix(lock) } == [true])
        #expect(
            Self.reasons { scenario in
                let lock = ReadWriteLock()
                scenario.thread("user") { lock.unlock() }
            }.map { $0.hasSuffix(lock) } == [true])
    }

    @Test("a lock that is released while another thread holds it, and only then")
    func foreignLocks() {
        let reasons = Self.reasons { scenario in
            let (lock, isTaken) = (NSLock(), DispatchSemaphore(value: 0))
            scenario.thread("owner") {
                lock.lock()
                isTaken.signal()
            }
            scenario.thread("other") {
                isTaken.wait()
                lock.unlock()
            }
        }
        #expect(reasons.map { $0.hasSuffix("that another thread holds") } == [true], "\(reasons)")
        #expect(reasons.allSatisfy { $0.hasPrefix("'other' releases a lock") })
    }

    @Test("a condition that is waited for without its lock")
    func conditionWithoutLock() {
        let exploration = explore { scenario in
            let condition = NSCondition()
            scenario.thread("waits") {
                condition.wait()
                condition.unlock()
            }
            scenario.thread("signals") { condition.signal() }
        }
        #expect(
            exploration.findings.contains {
                $0.kind == .misuse && $0.reason.hasSuffix("without holding its lock")
            }, "\(exploration.text())")
    }

    @Test("a lock that was taken during set-up may be released by a thread")
    func takenDuringSetUp() {
        #expect(
            Self.reasons { scenario in
                let lock = NSLock()
                lock.lock()
                scenario.thread("user") { lock.unlock() }
            } == [])
    }

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

    /// The compiler copies `withUnsafeContinuation` into the program, without lines.
    @Test("an unsafe continuation that is never resumed", .enabled(if: unavailableTasks == nil))
    func neverResumed() {
        let line = #line + 3
        let exploration = explore { scenario in
            scenario.task("waiter") {
                await withUnsafeContinuation { (_: Unsafe) in }
            }
        }
        let place = "MisuseTests.swift:\(line)"
        #expect(exploration.reasons(.deadlock) == ["'waiter' waits at \(place) to be resumed"])
    }

    @Test("a continuation that the task resumes twice", .enabled(if: unavailableTasks == nil))
    func resumedTwiceByItself() {
        let reasons = Self.reasons { scenario in
            scenario.task("waiter") {
                await withUnsafeContinuation { (continuation: Unsafe) in
                    continuation.resume()
                    continuation.resume()
                }
            }
        }
        #expect(reasons.map { $0.hasPrefix("'waiter' resumes a continuation") } == [true])
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
        "no misuse: the next continuation of the same task, however it is resumed",
        .enabled(if: unavailableTasks == nil))
    func successiveContinuations() {
        #expect(
            Self.reasons { scenario in
                let kept = Shelf<Unsafe>()
                let isThere = DispatchSemaphore(value: 0)
                scenario.task("waiter") {
                    for _ in 1...2 {
                        await withUnsafeContinuation {
                            kept.put($0)
                            isThere.signal()
                        }
                    }
                }
                scenario.thread("resumer") {
                    for _ in 1...2 {
                        isThere.wait()
                        kept.take()?.resume()
                    }
                }
            } == [])
        #expect(
            Self.reasons { scenario in
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
            } == [])
    }
}
