import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// A thread that blocks in a call that the lab does not control is lost, and these tests leave some
/// of them behind. Each test takes the second after which the lab reports such a thread.
@Suite("The lab reports what it cannot see", .needsTheLab)
struct BlockedEntryPointTests {
    private static let reads = place(6)
    /// Blocks until data is written to the pipe, which never happens.
    static func readFromPipe() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        var byte: UInt8 = 0
        _ = read(ends[0], &byte, 1)
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
        #expect(exploration.blocked?.thread == "blocked", "\(exploration.summary)")
        #expect(exploration.blocked?.place.hasSuffix("at \(Self.reads)") == true)
        #expect(!exploration.survives)
        expectNextExplorationWorks()
    }

    #if os(Linux)
        @Test("a blocked thread keeps its priority, or its process could not end on a busy machine")
        func keepsPriority() {
            let function = dlsym(nil, "gettid")
            let gettid = unsafeBitCast(function, to: (@convention(c) () -> pid_t).self)
            nonisolated(unsafe) var number: pid_t = 0
            let exploration = explore { scenario in
                scenario.thread("blocked") {
                    number = gettid()
                    Self.readFromPipe()
                }
            }
            #expect(exploration.blocked?.thread == "blocked", "\(exploration.summary)")
            #expect(sched_getscheduler(number) == SCHED_OTHER)
        }
    #endif

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

    #if os(Linux)
        @Test("a lost thread that continues later ends in the next function that it calls")
        func endsLater() {
            let gettid = unsafeBitCast(
                dlsym(nil, "gettid"), to: (@convention(c) () -> pid_t).self)
            var ends: [Int32] = [0, 0]
            precondition(pipe(&ends) == 0)
            let input = ends[0]
            nonisolated(unsafe) var number: pid_t = 0
            let exploration = explore { scenario in
                scenario.thread("blocked") {
                    number = gettid()
                    var last = Self.next(to: Self.next(to: 0))
                    var byte: UInt8 = 0
                    _ = read(input, &byte, 1)
                    while last != 0 { last = Self.next(to: last) }
                }
            }
            #expect(exploration.blocked?.thread == "blocked", "\(exploration.summary)")
            var byte: UInt8 = 0
            _ = write(ends[1], &byte, 1)
            let limit = ContinuousClock.now + .seconds(30)
            while access("/proc/self/task/\(number)", F_OK) == 0, .now < limit { usleep(1000) }
            #expect(access("/proc/self/task/\(number)", F_OK) != 0)
        }

        @inline(never)
        private static func next(to number: Int) -> Int { number &+ 1 | 1 }
    #endif
}
