import Foundation
import RaceLab
import Testing

/// The C library declares it for some programs only.
@_silgen_name("sem_clockwait")
private func waitOnClock(
    _ semaphore: UnsafeMutablePointer<sem_t>, _ clock: clockid_t, _ until: UnsafePointer<timespec>
) -> CInt

/// A semaphore of the threads library, or one of Dispatch with the same operations.
final class AnySemaphore: Sendable {
    nonisolated(unsafe) private let posix: UnsafeMutablePointer<sem_t>
    private let dispatch: DispatchSemaphore?

    init(_ count: Int, isPosix: Bool) {
        posix = .allocate(capacity: 1)
        sem_init(posix, 0, UInt32(count))
        dispatch = isPosix ? nil : DispatchSemaphore(value: count)
    }

    deinit {
        sem_destroy(posix)
        posix.deallocate()
    }

    private var soon: timespec { timespec(tv_sec: time(nil) + 60, tv_nsec: 0) }

    func wait() {
        if let dispatch { dispatch.wait() } else { sem_wait(posix) }
    }

    func signal() {
        if let dispatch { dispatch.signal() } else { sem_post(posix) }
    }

    func tryToWait() -> Bool {
        if let dispatch { return dispatch.wait(timeout: .now()) == .success }
        return sem_trywait(posix) == 0
    }

    func waitAWhile() -> Bool {
        if let dispatch { return dispatch.wait(timeout: .now() + 60) == .success }
        var until = soon
        return sem_timedwait(posix, &until) == 0
    }

    func waitAWhileOnClock() -> Bool {
        var until = soon
        return waitOnClock(posix, CLOCK_MONOTONIC, &until) == 0
    }

    var value: Int {
        var count: Int32 = 0
        sem_getvalue(posix, &count)
        return Int(count)
    }
}

@Suite("The lab controls semaphores of POSIX and of Dispatch", .needsTheLab)
struct PosixSemaphoreTests {
    @Test("has its known result", arguments: [true, false].flatMap(programs))
    func known(_ program: KnownProgram) { program.check() }

    private static func programs(isPosix: Bool) -> [KnownProgram] {
        let name = isPosix ? "POSIX" : "Dispatch"
        let make = { @Sendable count in AnySemaphore(count, isPosix: isPosix) }
        return [
            KnownProgram("\(name): one is a lock", explored: 2...2) { count($0, make(1)) },
            KnownProgram("\(name): two is not", .overlap, explored: 10...10) { count($0, make(2)) },
            KnownProgram(
                "\(name): what precedes a signal happens before what follows the wait",
                outcomes: ["2"], explored: 1...1
            ) { scenario in
                let (shared, semaphore) = (Shared(), make(0))
                scenario.thread("maker") {
                    shared.value = 1
                    semaphore.signal()
                }
                scenario.thread("user") {
                    semaphore.wait()
                    shared.value += 1
                }
                scenario.outcome { "\(shared.value)" }
            },
            KnownProgram(
                "\(name): an attempt does not wait", outcomes: ["true", "false"], explored: 2...2
            ) { scenario in
                let (shared, semaphore) = (Shared(), make(0))
                scenario.thread("signaller") { semaphore.signal() }
                scenario.thread("attempt") { shared.isReady = semaphore.tryToWait() }
                scenario.outcome { "\(shared.isReady)" }
            },
            KnownProgram(
                "\(name): a wait with a time-out", outcomes: ["2"], explored: 1...1
            ) { scenario in
                let (shared, semaphore) = (Shared(), make(0))
                scenario.thread("maker") {
                    shared.value = 1
                    semaphore.signal()
                }
                scenario.thread("user") { if semaphore.waitAWhile() { shared.value = 2 } }
                scenario.outcome { "\(shared.value)" }
            },
            KnownProgram("\(name): a wait ends if nobody signals", outcomes: ["false"]) {
                scenario in
                let (shared, semaphore) = (Shared(), make(0))
                scenario.thread("other") { shared.value = 1 }
                scenario.thread("patient") { shared.isReady = semaphore.waitAWhile() }
                scenario.outcome { "\(shared.isReady)" }
            },
            KnownProgram("\(name): nobody signals", .deadlock, explored: 2...2) { scenario in
                let semaphore = make(1)
                scenario.threads("first", "second") { semaphore.wait() }
            },
        ]
    }

    private static func count(_ scenario: Scenario, _ semaphore: AnySemaphore) {
        let shared = Shared()
        scenario.threads("first", "second") {
            semaphore.wait()
            shared.value += 1
            semaphore.signal()
        }
    }

    @Test("the count can be read, and a wait can follow another clock")
    func countAndClock() {
        var seen: Set<Int> = []
        let exploration = explore { scenario in
            let shared = Shared()
            let semaphore = AnySemaphore(1, isPosix: true)
            scenario.thread("reader") { shared.value = semaphore.value }
            scenario.thread("waiter") { _ = semaphore.waitAWhileOnClock() }
            scenario.check { seen.insert(shared.value) }
        }
        #expect(exploration.survives, "\(exploration.summary)")
        #expect(exploration.explored == 2)
        #expect(seen == [0, 1])
    }
}
