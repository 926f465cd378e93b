import Foundation
import RaceLab
import Testing

/// The C library declares it for some programs only.
@_silgen_name("sem_clockwait")
private func waitOnClock(
    _ semaphore: UnsafeMutablePointer<sem_t>, _ clock: clockid_t, _ until: UnsafePointer<timespec>
) -> CInt

/// A semaphore of the threads library.
private final class Semaphore: Sendable {
    nonisolated(unsafe) private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(_ count: Int) { sem_init(semaphore, 0, UInt32(count)) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    private var soon: timespec { timespec(tv_sec: time(nil) + 60, tv_nsec: 0) }

    func wait() { sem_wait(semaphore) }
    func signal() { sem_post(semaphore) }
    func tryToWait() -> Bool { sem_trywait(semaphore) == 0 }

    func waitAWhile() -> Bool {
        var until = soon
        return sem_timedwait(semaphore, &until) == 0
    }

    func waitAWhileOnClock() -> Bool {
        var until = soon
        return waitOnClock(semaphore, CLOCK_MONOTONIC, &until) == 0
    }

    var value: Int {
        var count: Int32 = 0
        sem_getvalue(semaphore, &count)
        return Int(count)
    }
}

@Suite("The lab controls semaphores of POSIX", .needsTheLab)
struct PosixSemaphoreTests {
    @Test("has its known result", arguments: programs)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram("one is a lock", explored: 2...2) { count($0, Semaphore(1)) },
        KnownProgram("two is not", .overlap, explored: 10...10) { count($0, Semaphore(2)) },
        KnownProgram(
            "what precedes a signal happens before what follows the wait",
            outcomes: ["2"], explored: 1...1
        ) { scenario in
            let (shared, semaphore) = (Shared(), Semaphore(0))
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
            "an attempt does not wait", outcomes: ["true", "false"], explored: 2...2
        ) { scenario in
            let (shared, semaphore) = (Shared(), Semaphore(0))
            scenario.thread("signaller") { semaphore.signal() }
            scenario.thread("attempt") { shared.isReady = semaphore.tryToWait() }
            scenario.outcome { "\(shared.isReady)" }
        },
        KnownProgram(
            "a wait with a time-out", outcomes: ["2"], explored: 1...1
        ) { scenario in
            let (shared, semaphore) = (Shared(), Semaphore(0))
            scenario.thread("maker") {
                shared.value = 1
                semaphore.signal()
            }
            scenario.thread("user") { if semaphore.waitAWhile() { shared.value = 2 } }
            scenario.outcome { "\(shared.value)" }
        },
        KnownProgram("a wait ends if nobody signals", outcomes: ["false"]) {
            scenario in
            let (shared, semaphore) = (Shared(), Semaphore(0))
            scenario.thread("other") { shared.value = 1 }
            scenario.thread("patient") { shared.isReady = semaphore.waitAWhile() }
            scenario.outcome { "\(shared.isReady)" }
        },
        KnownProgram("nobody signals", .deadlock, explored: 2...2) { scenario in
            let semaphore = Semaphore(1)
            scenario.threads("first", "second") { semaphore.wait() }
        },
        KnownProgram(
            "the count can be read, and a wait can follow another clock", outcomes: ["0", "1"],
            explored: 2...2
        ) { scenario in
            let (shared, semaphore) = (Shared(), Semaphore(1))
            scenario.thread("reader") { shared.value = semaphore.value }
            scenario.thread("waiter") { _ = semaphore.waitAWhileOnClock() }
            scenario.outcome { "\(shared.value)" }
        },
    ]

    private static func count(_ scenario: Scenario, _ semaphore: Semaphore) {
        let shared = Shared()
        scenario.threads("first", "second") {
            semaphore.wait()
            shared.value += 1
            semaphore.signal()
        }
    }
}
