import Dispatch
import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// What the documentation of locks and semaphores forbids.
@Suite("Misuse is reported", .needsTheLab)
struct MisuseTests {
    private static func reasons(_ describe: @escaping (Scenario) -> Void) -> [String] {
        let report = explore(describe)
        #expect(report.inconclusive == nil, "\(report.summary)")
        #expect(report.findings.allSatisfy { $0.kind == .misuse }, "\(report.text())")
        #expect(report.survives == report.findings.isEmpty)
        return report.findings.map(\.reason)
    }

    @Test("a semaphore that is freed below its first count", arguments: [1, 2, 3], [0, 1, 2, 3])
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

    @Test("also one that a thread has made, with the place")
    func freedInThread() {
        let reasons = Self.reasons { scenario in
            scenario.thread("user") { DispatchSemaphore(value: 1).wait() }
        }
        #expect(reasons.count == 1)
        #expect(reasons[0].contains("with the count 0"), "\(reasons)")
    }

    @Test("only in interleavings in which it is")
    func freedInSome() {
        let report = explore { scenario in
            let (semaphore, flag) = (DispatchSemaphore(value: 1), Shared())
            scenario.thread("user") {
                semaphore.wait()
                if flag.value == 0 { semaphore.signal() }
            }
            scenario.thread("other") { flag.value = 1 }
        }
        let misuse = report.findings.first { $0.kind == .misuse }
        #expect(misuse?.count == 1 && report.explored == 2, "\(report.text())")
    }

    private static let lasting = DispatchSemaphore(value: 5)

    @Test("not one that lives on, and not one that was made with 0")
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
        let report = explore { scenario in
            let condition = NSCondition()
            scenario.thread("waits") {
                condition.wait()
                condition.unlock()
            }
            scenario.thread("signals") { condition.signal() }
        }
        #expect(
            report.findings.contains {
                $0.kind == .misuse && $0.reason.hasSuffix("without holding its lock")
            }, "\(report.text())")
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
}
