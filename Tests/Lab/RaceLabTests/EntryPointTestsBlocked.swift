import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// A thread that blocks in a call that the lab does not control is lost, and these tests leave some
/// of them behind. Each test takes the second after which the lab reports such a thread.
@Suite("The lab reports what it cannot see", .needsTheLab)
struct BlockedEntryPointTests {
    /// Blocks until data is written to the pipe, which never happens.
    static func readFromPipe() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        var byte: UInt8 = 0
        _ = read(ends[0], &byte, 1)
    }

    /// Blocks until the signal arrives, which is never sent.
    private static func waitForSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGUSR2)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        var received: Int32 = 0
        sigwait(&signals, &received)
    }

    private static func lines(_ function: String, in file: String = #filePath) -> Range<Int> {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let first = lines.firstIndex { $0.contains("func \(function)(") } ?? 0
        let last = lines[first...].firstIndex { $0 == "    }" } ?? first
        return first + 1..<last + 1
    }

    private func expectBlocked(
        _ exploration: Exploration, in function: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard let (thread, place) = exploration.blocked else {
            Issue.record("\(exploration.summary)", sourceLocation: sourceLocation)
            return
        }
        #expect(thread == "blocked", sourceLocation: sourceLocation)
        let expected = Self.lines(function).map { "at EntryPointTestsBlocked.swift:\($0)" }
        #expect(
            expected.contains { place.hasSuffix($0) }, "\(place)", sourceLocation: sourceLocation)
        #expect(!exploration.survives, sourceLocation: sourceLocation)
    }

    /// Checks that the lost thread does not affect the next exploration.
    private func expectNextExplorationWorks(sourceLocation: SourceLocation = #_sourceLocation) {
        let exploration = explore { scenario in
            let (shared, lock) = (Shared(), NSLock())
            scenario.threads("first", "second") { lock.withLock { shared.value += 1 } }
        }
        #expect(exploration.survives, "\(exploration.summary)", sourceLocation: sourceLocation)
    }

    @Test("a thread that reads from a pipe")
    func blockedInRead() {
        let exploration = explore { scenario in
            let shared = Shared()
            scenario.thread("other") { shared.value = 1 }
            scenario.thread("blocked") {
                shared.other = 1
                Self.readFromPipe()
            }
        }
        expectBlocked(exploration, in: "readFromPipe")
        expectNextExplorationWorks()
    }

    @Test("a thread that waits for a signal of the operating system, and holds a lock")
    func blockedInSigwait() {
        let exploration = explore { scenario in
            let (shared, lock) = (Shared(), NSLock())
            scenario.thread("other") { lock.withLock { shared.value = 1 } }
            scenario.thread("blocked") {
                lock.withLock {
                    shared.value = 1
                    Self.waitForSignal()
                }
            }
        }
        expectBlocked(exploration, in: "waitForSignal")
        expectNextExplorationWorks()
    }

    @Test("a thread that another thread has started")
    func startedThread() {
        let exploration = explore { scenario in
            let shared = Shared()
            scenario.thread("starter") {
                shared.value = 1
                Thread.detachNewThread { Self.readFromPipe() }
                shared.value = 2
            }
        }
        #expect(exploration.blocked?.thread == "started thread 2", "\(exploration.summary)")
        expectNextExplorationWorks()
    }

    @Test("a lost thread that continues later does no harm")
    func comesBack() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        let input = ends[0]
        let describe = { (scenario: Scenario) in
            let (shared, lock) = (Shared(), NSLock())
            scenario.thread("other") { shared.value = 1 }
            scenario.thread("blocked") {
                lock.lock()
                var byte: UInt8 = 0
                _ = read(input, &byte, 1)
                lock.unlock()
                shared.other = 1
            }
        }
        let exploration = explore(describe)
        #expect(!exploration.survives)
        var byte: UInt8 = 0
        _ = write(ends[1], &byte, 1)
        expectNextExplorationWorks()
    }
}
