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

/// Programs over a semaphore and a shared number, with the number of interleavings.
struct SemaphoreProgram: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let count: Int
    let threads: [@Sendable (AnySemaphore, Shared) -> Void]
    let survives: Bool
    let interleavings: Int
}

@Suite("The lab controls POSIX semaphores", .needsTheLab)
struct PosixSemaphoreTests {
    private static let critical: @Sendable (AnySemaphore, Shared) -> Void = { semaphore, shared in
        semaphore.wait()
        shared.value += 1
        semaphore.signal()
    }

    static let all: [SemaphoreProgram] = [
        SemaphoreProgram(
            testDescription: "a lock", count: 1, threads: [critical, critical], survives: true,
            interleavings: 2),
        SemaphoreProgram(
            testDescription: "room for two", count: 2, threads: [critical, critical],
            survives: false, interleavings: 0),
        SemaphoreProgram(
            testDescription: "a message", count: 0,
            threads: [
                { semaphore, shared in
                    shared.value = 1
                    semaphore.signal()
                },
                { semaphore, shared in
                    semaphore.wait()
                    shared.value += 1
                },
            ], survives: true, interleavings: 1),
        SemaphoreProgram(
            testDescription: "an attempt", count: 0,
            threads: [
                { semaphore, _ in semaphore.signal() },
                { semaphore, shared in if semaphore.tryToWait() { shared.value = 1 } },
            ], survives: true, interleavings: 2),
        SemaphoreProgram(
            testDescription: "a wait with a time-out", count: 0,
            threads: [
                { semaphore, shared in
                    shared.value = 1
                    semaphore.signal()
                },
                { semaphore, shared in if semaphore.waitAWhile() { shared.value = 2 } },
            ], survives: true, interleavings: 1),
        SemaphoreProgram(
            testDescription: "nobody signals", count: 1,
            threads: [{ semaphore, _ in semaphore.wait() }, { semaphore, _ in semaphore.wait() }],
            survives: false, interleavings: 0),
    ]

    private func explored(_ program: SemaphoreProgram, isPosix: Bool) -> Exploration {
        explore { scenario in
            let shared = Shared()
            let semaphore = AnySemaphore(program.count, isPosix: isPosix)
            for (number, body) in program.threads.enumerated() {
                scenario.thread("\(number)") { body(semaphore, shared) }
            }
        }
    }

    @Test("as those of Dispatch", arguments: all)
    func comparedWithDispatch(program: SemaphoreProgram) {
        let exploration = explored(program, isPosix: true)
        let expected = explored(program, isPosix: false)
        #expect(exploration.survives == program.survives, "\(exploration.summary)")
        #expect(exploration.explored == expected.explored)
        #expect(expected.survives == program.survives, "\(expected.summary)")
        if program.survives { #expect(exploration.explored == program.interleavings) }
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
