import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

#if os(Linux)
    // Swift does not import these functions of the GNU C library.
    @_silgen_name("pthread_mutex_clocklock")
    private func pthread_mutex_clocklock(
        _ lock: UnsafeMutablePointer<pthread_mutex_t>, _ clock: clockid_t,
        _ until: UnsafePointer<timespec>
    ) -> Int32

    @_silgen_name("pthread_cond_clockwait")
    private func pthread_cond_clockwait(
        _ condition: UnsafeMutablePointer<pthread_cond_t>,
        _ lock: UnsafeMutablePointer<pthread_mutex_t>, _ clock: clockid_t,
        _ until: UnsafePointer<timespec>
    ) -> Int32

    @_silgen_name("pthread_tryjoin_np")
    private func pthread_tryjoin_np(
        _ thread: pthread_t, _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32
#endif

/// Operations that the lab does not control are inconclusive, and reported with their place.
@Suite("Operations that the lab does not control are inconclusive", .needsTheLab)
struct UncontrolledTests {
    private struct Case: Sendable {
        let testDescription: String
        let words: String
        let make: @Sendable (Shared) -> Void
    }

    nonisolated(unsafe) private static var kept: [Any] = []

    /// Memory that is never freed.
    private static func lasting<Value>(_ value: Value) -> UnsafeMutablePointer<Value> {
        let memory = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        memory.initialize(to: value)
        return memory
    }

    private static let operations = OperationQueue()
    private static let suspended = {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        return queue
    }()
    nonisolated(unsafe) private static let sharedSemaphore = {
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(semaphore, 1, 1)
        return semaphore
    }()
    /// Suspends the queue before an exploration, which would end at that.
    init() { _ = Self.suspended }

    private static func signaled(_ shared: Shared) async { shared.value += 1 }

    private static let inSetUp = "a task while the scenario is set up or checked"

    /// While the lab explores, it controls these: see TaskTests.
    private static let tasks: [Case] = [
        Case(testDescription: "a task", words: inSetUp) { shared in
            Task { await signaled(shared) }
        },
        Case(testDescription: "a task of the main actor", words: inSetUp) { shared in
            Task { @MainActor in shared.value += 1 }
        },
    ]

    private static let cases: [Case] = [
        Case(testDescription: "a dispatch source", words: "source") { shared in
            kept.append(DispatchSource.makeUserDataAddSource(queue: .global()))
        },
        Case(testDescription: "a timer of Dispatch", words: "source") { shared in
            let timer = DispatchSource.makeTimerSource()
            timer.setEventHandler { shared.value += 1 }
            timer.schedule(deadline: .now())
            timer.activate()
            kept.append(timer)
        },
        Case(testDescription: "a timer of a run loop", words: "timer") { shared in
            RunLoop.main.add(Timer(timeInterval: 1, repeats: false) { _ in }, forMode: .common)
        },
        Case(testDescription: "an operation queue", words: "OperationQueue") { shared in
            operations.addOperation { shared.value += 1 }
        },
        Case(testDescription: "the main operation queue", words: "OperationQueue.main") { shared in
            OperationQueue.main.addOperation { shared.value += 1 }
        },
        Case(testDescription: "a target queue", words: "target") { shared in
            let target = DispatchQueue(label: "target")
            kept.append(DispatchQueue(label: "queue", target: target))
        },
        Case(testDescription: "a channel", words: "reads or writes") { shared in
            kept.append(
                DispatchIO(type: .stream, fileDescriptor: 0, queue: .global()) { _ in })
        },
        Case(testDescription: "a queue that is suspended", words: "suspends") { shared in
            let queue = DispatchQueue(label: "queue")
            queue.suspend()
            queue.async { shared.value += 1 }
            queue.resume()
        },
        Case(testDescription: "a queue that is resumed", words: "resumes") { _ in
            suspended.resume()
        },
        Case(testDescription: "a queue that is activated", words: "activates") { _ in
            DispatchQueue(label: "queue", attributes: .initiallyInactive).activate()
        },
        Case(testDescription: "a semaphore that processes share", words: "semaphore") { _ in
            sem_post(sharedSemaphore)
        },
        Case(testDescription: "a semaphore with a name", words: "semaphore") { _ in
            _ = sem_open("/racelab-no-such-semaphore", 0)
        },
        Case(testDescription: "a spin lock", words: "spin lock") { _ in
            let lock = lasting(pthread_spinlock_t())
            pthread_spin_trylock(lock)
            pthread_spin_unlock(lock)
        },
        Case(testDescription: "a readers-writer lock with a time limit", words: "time limit") { _ in
            var until = timespec(tv_sec: .max, tv_nsec: 0)
            pthread_rwlock_timedwrlock(lasting(pthread_rwlock_t()), &until)
        },
        Case(testDescription: "a lock with another clock", words: "clocklock") { _ in
            var until = timespec(tv_sec: .max, tv_nsec: 0)
            _ = pthread_mutex_clocklock(lasting(pthread_mutex_t()), CLOCK_MONOTONIC, &until)
        },
        Case(testDescription: "a wait with another clock", words: "clockwait") { _ in
            let lock = lasting(pthread_mutex_t())
            var past = timespec()
            pthread_mutex_lock(lock)
            _ = pthread_cond_clockwait(lasting(pthread_cond_t()), lock, CLOCK_MONOTONIC, &past)
            pthread_mutex_unlock(lock)
        },
        Case(testDescription: "a signal for a thread", words: "sends a signal") { _ in
            pthread_kill(pthread_self(), SIGURG)
        },
        Case(testDescription: "asking whether a thread has ended", words: "has ended") { _ in
            var thread = pthread_t()
            pthread_create(&thread, nil, { _ in nil }, nil)
            if pthread_tryjoin_np(thread, nil) != 0 { pthread_join(thread, nil) }
        },
        Case(testDescription: "a System V semaphore", words: "System V") { _ in
            var operation = sembuf(sem_num: 0, sem_op: 1, sem_flg: 0)
            _ = semop(-1, &operation, 1)
        },
        Case(testDescription: "canceling a thread", words: "cancels a thread") { _ in
            var thread = pthread_t()
            pthread_create(&thread, nil, { _ in nil }, nil)
            pthread_cancel(thread)
            pthread_join(thread, nil)
        },
    ]

    /// These count in threads only.
    private static let casesInThreads = [
        Case(testDescription: "a lock that prefers writers", words: "prefers writers") { _ in
            let lock = lasting(pthread_rwlock_t())
            var attributes = pthread_rwlockattr_t()
            pthread_rwlockattr_init(&attributes)
            pthread_rwlockattr_setkind_np(
                &attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
            pthread_rwlock_init(lock, &attributes)
            pthread_rwlock_rdlock(lock)
        },
        Case(testDescription: "the maximum of an atomic", words: "`max`") { _ in
            mark.max(1, ordering: .relaxed)
        },
        Case(testDescription: "the minimum of a small atomic", words: "`min`") { _ in
            smallMark.min(1, ordering: .sequentiallyConsistent)
        },
        Case(testDescription: "a lock that a block on a queue keeps", words: "end of its work") {
            _ in
            let lock = NSRecursiveLock()
            let queue = DispatchQueue(label: "queue")
            queue.async { lock.lock() }
            queue.sync {}
            kept.append(lock)
        },
    ]
    private static let mark = Atomic(0)
    private static let smallMark = Atomic<UInt8>(2)

    @Test(
        "a lock that a suspended task keeps", .enabled(if: unavailableTasks == nil),
        arguments: keptLocks)
    func keptBySuspendedTask(_ program: KnownProgram) { program.check() }

    private static let keptLocks = [
        KnownProgram("a recursive lock", noVerdict: "suspended") {
            increment($0, under: NSRecursiveLock())
        },
        KnownProgram("a plain lock", outcomes: ["2"]) { increment($0, under: NSLock()) },
    ]

    /// Two tasks, each of which is suspended while it holds the lock.
    private static func increment(_ scenario: Scenario, under lock: any NSLocking & Sendable) {
        let shared = Shared()
        for name in ["first", "second"] {
            scenario.task(name) {
                Self.take(lock)
                let seen = shared.value
                await Task.yield()
                shared.value = seen + 1
                Self.give(lock)
            }
        }
        scenario.outcome { "\(shared.value)" }
    }

    private static func take(_ lock: any NSLocking) { lock.lock() }
    private static func give(_ lock: any NSLocking) { lock.unlock() }

    // In a child process, because the operation continues in its process.

    private static let inThread = (cases + casesInThreads).map { example in
        KnownProgram(
            "\(example.testDescription), in a thread", options: .isolated, noVerdict: example.words
        ) { scenario in
            let shared = Shared()
            scenario.thread("maker") {
                shared.value += 1
                example.make(shared)
                shared.value += 1
            }
            scenario.thread("other") { shared.other = 1 }
        }
    }

    private static let duringSetUp = (tasks + cases).map { example in
        KnownProgram(
            "\(example.testDescription), during set-up", options: .isolated,
            noVerdict: example.words
        ) { scenario in
            let shared = Shared()
            example.make(shared)
            scenario.thread("only") { shared.other = 1 }
        }
    }

    private final class Waiting: Sendable {
        let continuation = Mutex<CheckedContinuation<Void, Never>?>(nil)
    }

    @Test("resuming a task that waits outside the scenario")
    func resumed() async {
        let waiting = Waiting()
        Task {
            await withCheckedContinuation { inner in waiting.continuation.withLock { $0 = inner } }
        }
        while waiting.continuation.withLock({ $0 == nil }) { await Task.yield() }
        KnownProgram("a task outside", noVerdict: "task") { scenario in
            let shared = Shared()
            scenario.thread("resumer") {
                shared.value = 1
                waiting.continuation.withLock { $0 }?.resume()
            }
        }.check()
    }

    @Test("has its known result", arguments: programs + waits + inThread + duringSetUp)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram("a thread that is started during set-up, and joined") {
            startInSetUp($0) { pthread_join($0, nil) }
        },
        KnownProgram(
            "a thread that is started during set-up", noVerdict: "starts a thread",
            at: "EntryPointTestsThreads.swift"
        ) { startInSetUp($0) { pthread_detach($0) } },
        KnownProgram(
            "a semaphore in a global, even if the scenario is the first to use it",
            noVerdict: "a semaphore that was made outside"
        ) { $0.thread("waiter") { semaphore.wait() } },
        KnownProgram(
            "a thread that the initializer of a global starts",
            noVerdict: "starts a thread while a global is made"
        ) { $0.thread("only") { started } },
        KnownProgram("waiting for a change of a global", noVerdict: "a change of a global") {
            $0.thread("waiter") { while !isReady {} }
        },
        KnownProgram("a task in a check", options: .isolated, noVerdict: inSetUp) { scenario in
            let shared = Shared()
            scenario.thread("only") { shared.other = 1 }
            scenario.check { Task { await signaled(shared) } }
        },
    ]

    private static func startInSetUp(_ scenario: Scenario, _ end: (pthread_t) -> Void) {
        let shared = Shared()
        end(ThreadEntryPointTests.start { shared.value += 1 })
        scenario.thread("only") { shared.other = 1 }
    }
    private static let semaphore = DispatchSemaphore(value: 0)

    private static let waits = {
        let (semaphore, condition) = (DispatchSemaphore(value: 0), NSCondition())
        let group = DispatchGroup()
        group.enter()
        return [
            waiting("semaphore") { semaphore.wait() },
            waiting("condition") { condition.withLock { condition.wait() } },
            waiting("group") { group.wait() },
        ]
    }()

    private static func waiting(
        _ kind: String, for wait: @escaping @Sendable () -> Void
    ) -> KnownProgram {
        KnownProgram("a wait for a \(kind) of others", noVerdict: "outside of the scenario") {
            scenario in
            let shared = Shared()
            scenario.thread("waiter") {
                shared.value = 1
                wait()
            }
            scenario.thread("other") { shared.other = 1 }
        }
    }

    /// Made once in a process, in the only run of the program above.
    private static let started: Void = { Thread.detachNewThread {} }()

    nonisolated(unsafe) private static var isReady = false

    @MainActor private final class Model {
        var value = 0
    }

    @Test("an isolated function of an actor is never called")
    @MainActor func isolatedToAnActor() {
        let model = Model()
        let inherited = explore { scenario in
            model.value += 1
            scenario.thread("leaks") { model.value += 1 }
        }
        expectMalformed(inherited, "the scenario is isolated to ")
        #expect(inherited.summary.contains("begin it with { @Sendable scenario in"))
        let ofThread = explore { @Sendable scenario in
            scenario.thread("leaks") { @MainActor in model.value += 1 }
        }
        expectMalformed(ofThread, "the thread 'leaks' is isolated to ")
        #expect(model.value == 0)
        let sendable = explore { @Sendable scenario in
            let shared = Shared()
            scenario.thread("does not") { shared.value += 1 }
        }
        #expect(sendable.survives, "\(sendable.text())")
    }

    private func expectMalformed(_ exploration: Exploration, _ beginning: String) {
        guard case .malformedScenario(let words)? = exploration.inconclusive else {
            Issue.record("\(exploration.text())")
            return
        }
        #expect(words.hasPrefix(beginning))
    }
}
