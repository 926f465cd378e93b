#if os(Linux)
    import Foundation
    import RaceLab
    import Synchronization
    import Testing

    /// Limits of time: which waits do not wait, and which ones cannot time out.
    @Suite("Deadlines", .needsTheLab)
    struct DeadlineTests {
        @Test("have their known results", arguments: programs)
        func known(_ program: KnownProgram) { program.check() }

        private static let programs =
            [past, available].flatMap { make in
                [
                    make("semaphore of POSIX", Posix.waitForSemaphore),
                    make("mutex", Posix.takeMutex),
                ]
            } + [
                past("condition", Posix.waitForCondition),
                available("semaphore", Posix.waitForDispatchSemaphore),
                available("group", Posix.waitForGroup),
                KnownProgram(
                    "a loop that asks for the time gives up, if time-outs fire at any time",
                    outcomes: ["true", "false"],
                    options: .with { $0.timeOutsFireAtAnyTime = true }, everyOrder: true
                ) { scenario in
                    let flag = Change()
                    var succeeds = true
                    scenario.thread("waits") {
                        let end = Date().addingTimeInterval(0.01)
                        while !flag.isSet {
                            if Date() > end {
                                succeeds = false
                                break
                            }
                        }
                    }
                    scenario.thread("sets") { flag.set() }
                    scenario.outcome { "\(succeeds)" }
                },
                KnownProgram(
                    "a wait in a loop ends, however often it is woken in vain",
                    options: .with { $0.spuriousWakeups = true }
                ) { scenario in
                    let posix = Posix()
                    scenario.thread("waits") {
                        pthread_mutex_lock(posix.mutex)
                        var (end, result) = (timespec(tv_sec: time(nil) + 1, tv_nsec: 0), Int32(0))
                        while result == 0 {
                            result = pthread_cond_timedwait(posix.condition, posix.mutex, &end)
                        }
                        pthread_mutex_unlock(posix.mutex)
                    }
                },
                KnownProgram("a robust mutex", noVerdict: "takes a robust lock") { scenario in
                    let posix = Posix(isRobust: true)
                    scenario.threads("first", "second") {
                        pthread_mutex_lock(posix.mutex)
                        pthread_mutex_unlock(posix.mutex)
                    }
                },
                KnownProgram(
                    "a mutex is destroyed, but another thread still uses it", .misuse,
                    alwaysFails: false, outcomes: ["1"], everyOrder: true
                ) { scenario in
                    let (posix, shared) = (Posix(), Shared())
                    scenario.thread("uses") {
                        pthread_mutex_lock(posix.mutex)
                        shared.value += 1
                        pthread_mutex_unlock(posix.mutex)
                    }
                    scenario.thread("destroys") { pthread_mutex_destroy(posix.mutex) }
                    scenario.outcome { "\(shared.value)" }
                },
                KnownProgram(
                    "two threads use a mutex after its end, and neither waits", .misuse,
                    alwaysFails: false, everyOrder: true
                ) { scenario in
                    let posix = Posix()
                    scenario.threads("first", "second") {
                        pthread_mutex_lock(posix.mutex)
                        pthread_mutex_unlock(posix.mutex)
                    }
                    scenario.thread("destroys") { pthread_mutex_destroy(posix.mutex) }
                },
                KnownProgram(
                    "the writer of a readers-writer lock takes it again", outcomes: ["true"],
                    everyOrder: true
                ) { scenario in
                    let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
                    pthread_rwlock_init(lock, nil)
                    var answers: [Int32] = []
                    scenario.thread("writes") {
                        pthread_rwlock_wrlock(lock)
                        answers = [pthread_rwlock_rdlock(lock), pthread_rwlock_wrlock(lock)]
                        pthread_rwlock_unlock(lock)
                    }
                    scenario.thread("reads") {
                        pthread_rwlock_rdlock(lock)
                        pthread_rwlock_unlock(lock)
                    }
                    scenario.outcome { "\(answers == [EDEADLK, EDEADLK])" }
                },
                KnownProgram("waits of the setup that time out are short after a long sleep") {
                    scenario in
                    let (posix, shared) = (Posix(), Shared())
                    sleep(3600)
                    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1))
                    _ = DispatchSemaphore(value: 0).wait(wallTimeout: .now() + .milliseconds(1))
                    let condition = NSCondition()
                    _ = condition.withLock { condition.wait(until: Date() + 0.001) }
                    var end = timespec(tv_sec: time(nil), tv_nsec: 1_000_000)
                    sem_wait(posix.semaphore)
                    sem_timedwait(posix.semaphore, &end)
                    scenario.threads("first", "second") {
                        pthread_mutex_lock(posix.mutex)
                        shared.value += 1
                        pthread_mutex_unlock(posix.mutex)
                    }
                },
                KnownProgram(
                    "an attempt fails before a wait releases the lock",
                    outcomes: ["taken", "refused"], everyOrder: true
                ) { scenario in
                    let posix = Posix()
                    var seen = "taken"
                    scenario.thread("attempt") {
                        if pthread_mutex_trylock(posix.mutex) == 0 {
                            pthread_mutex_unlock(posix.mutex)
                        } else {
                            seen = "refused"
                        }
                    }
                    scenario.thread("waits") {
                        pthread_mutex_lock(posix.mutex)
                        var end = timespec(tv_sec: time(nil) + 1, tv_nsec: 0)
                        pthread_cond_timedwait(posix.condition, posix.mutex, &end)
                        pthread_mutex_unlock(posix.mutex)
                    }
                    scenario.outcome { seen }
                },
                KnownProgram(
                    "a wait that is longer than another thread's sleep", outcomes: ["true"]
                ) { scenario in waitsAndSleeps(scenario, limit: 5, sleep: 1) },
                KnownProgram(
                    "a wait that is too short for another thread's sleep",
                    outcomes: ["true", "false"],
                    options: .with { $0.timeOutsFireAtAnyTime = true }, everyOrder: true
                ) { scenario in waitsAndSleeps(scenario, limit: 1, sleep: 5) },
                KnownProgram(
                    "waits time out in the order of their deadlines", outcomes: ["[1, 5]"],
                    everyOrder: true
                ) { scenario in
                    let ends = Scenario.Log<Int>()
                    for limit in [5, 1] {
                        let done = DispatchSemaphore(value: 0)
                        scenario.thread("\(limit)") {
                            _ = done.wait(timeout: .now() + .seconds(limit))
                            ends.append(limit)
                        }
                    }
                    scenario.outcome { "\(ends.entries)" }
                },
                KnownProgram(
                    "a thread that has nothing to do with it sleeps for longer", outcomes: ["true"],
                    everyOrder: true
                ) { scenario in
                    waitsAndSleeps(scenario, limit: 1, sleep: 0, others: [5])
                },
                KnownProgram(
                    "another thread sleeps before it takes the lock", outcomes: ["true", "false"],
                    everyOrder: true
                ) { scenario in
                    let lock = NSLock()
                    var isInTime = false
                    scenario.thread("waits") { isInTime = lock.lock(before: Date() + 1) }
                    scenario.thread("sleeps") {
                        sleep(5)
                        if lock.try() { lock.unlock() }
                    }
                    scenario.outcome { "\(isInTime)" }
                },
                KnownProgram(
                    "threads sleep at the same time, and the sum is longer", outcomes: ["true"]
                ) { scenario in
                    waitsAndSleeps(scenario, limit: 3, sleep: 2, others: [2])
                },
                tooShort("semaphore") { scenario in
                    waitsAndSleeps(scenario, limit: 1, sleep: 5)
                },
                tooShort("condition") { scenario in
                    let (condition, done) = (NSCondition(), Box(Mutex(false)))
                    scenario.thread("waits") {
                        let limit = Date() + 1
                        condition.withLock {
                            while !done.value.withLock({ $0 }), condition.wait(until: limit) {}
                        }
                    }
                    scenario.thread("sleeps") {
                        condition.withLock {
                            sleep(5)
                            done.value.withLock { $0 = true }
                            condition.signal()
                        }
                    }
                },
                tooShort("group, and for work that comes later") { scenario in
                    let (group, queue) = (DispatchGroup(), DispatchQueue(label: "later"))
                    scenario.thread("waits") {
                        group.enter()
                        queue.asyncAfter(deadline: .now() + 5) { group.leave() }
                        _ = group.wait(timeout: .now() + 1)
                    }
                },
                signalsAndWaits(pause: 0.4, survives: true),
                signalsAndWaits(pause: 0.6, survives: false),
            ]

        /// By default the lab does not explore that it times out before the other thread goes on.
        private static func tooShort(
            _ name: String, _ describe: @escaping @Sendable (Scenario) -> Void
        ) -> KnownProgram {
            KnownProgram(
                "a wait that is too short, for a \(name)", noVerdict: "timeOutsFireAtAnyTime",
                describe)
        }

        /// One thread waits twice for at most 0.5 s, and another one signals twice after a pause.
        private static func signalsAndWaits(
            pause: TimeInterval, survives: Bool
        ) -> KnownProgram {
            KnownProgram(
                "two waits for a semaphore, with a pause of \(pause) s before each signal",
                outcomes: survives ? ["2"] : [],
                noVerdict: survives ? nil : "timeOutsFireAtAnyTime"
            ) { scenario in
                let (semaphore, inTime) = (DispatchSemaphore(value: 0), Counter())
                scenario.thread("waits") {
                    for _ in 0..<2 where semaphore.wait(timeout: .now() + 0.5) == .success {
                        inTime.value += 1
                    }
                }
                scenario.thread("signals") {
                    for _ in 0..<2 {
                        Thread.sleep(forTimeInterval: pause)
                        semaphore.signal()
                    }
                }
                scenario.outcome { "\(inTime.value)" }
            }
        }

        private static func waitsAndSleeps(
            _ scenario: Scenario, limit: Int, sleep length: UInt32, others: [UInt32] = []
        ) {
            let (log, names) = (Scenario.Log<UInt32>(), ["another", "a third"])
            for (name, length) in zip(names, others) {
                scenario.thread(name) {
                    sleep(length)
                    log.append(length)
                }
            }
            let done = DispatchSemaphore(value: 0)
            var isInTime = false
            scenario.thread("waits") {
                isInTime = done.wait(timeout: .now() + .seconds(limit)) == .success
            }
            scenario.thread("sleeps") {
                sleep(length)
                done.signal()
            }
            scenario.outcome { "\(isInTime)" }
        }

        /// A wait whose time is over does not wait: the other thread may store later.
        private static func past(
            _ name: String, _ wait: @escaping @Sendable (Posix, Int) -> Bool
        ) -> KnownProgram {
            KnownProgram(
                "the time of a wait for a \(name) is over", outcomes: ["0", "1"], everyOrder: true
            ) { scenario in
                let (posix, stored) = (Posix(), Box(Atomic(0)))
                var seen = 0
                scenario.thread("waits") {
                    posix.occupy()
                    let gotIt = wait(posix, -1)
                    seen = gotIt ? 2 : stored.value.load(ordering: .sequentiallyConsistent)
                }
                scenario.thread("stores") {
                    stored.value.store(1, ordering: .sequentiallyConsistent)
                }
                scenario.outcome { "\(seen)" }
            }
        }

        /// What is free is taken, whatever the time.
        private static func available(
            _ name: String, _ wait: @escaping @Sendable (Posix, Int) -> Bool
        ) -> KnownProgram {
            KnownProgram(
                "a wait for a \(name) that is free does not time out", outcomes: ["true"],
                options: .with { $0.timeOutsFireAtAnyTime = true }, everyOrder: true
            ) { scenario in
                let (posix, stored) = (Posix(), Box(Atomic(0)))
                var gotIt = false
                scenario.thread("waits") { gotIt = wait(posix, 1) }
                scenario.thread("stores") {
                    stored.value.store(1, ordering: .sequentiallyConsistent)
                }
                scenario.outcome { "\(gotIt)" }
            }
        }
    }

    /// What a thread can wait for; all of it is free at first.
    private final class Posix: @unchecked Sendable {
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        let dispatch = DispatchSemaphore(value: 1)

        init(isRobust: Bool = false) {
            var attributes = pthread_mutexattr_t()
            pthread_mutexattr_init(&attributes)
            if isRobust { pthread_mutexattr_setrobust(&attributes, 1) }
            pthread_mutex_init(mutex, &attributes)
            pthread_cond_init(condition, nil)
            sem_init(semaphore, 0, 1)
        }

        /// From now on nothing is free.
        func occupy() {
            sem_wait(semaphore)
            pthread_mutex_lock(mutex)
        }

        private func moment(in seconds: Int) -> timespec {
            timespec(tv_sec: time(nil) + seconds, tv_nsec: 0)
        }

        @Sendable static func waitForSemaphore(_ posix: Posix, seconds: Int) -> Bool {
            var end = posix.moment(in: seconds)
            return sem_timedwait(posix.semaphore, &end) == 0
        }

        @Sendable static func takeMutex(_ posix: Posix, seconds: Int) -> Bool {
            var end = posix.moment(in: seconds)
            return pthread_mutex_timedlock(posix.mutex, &end) == 0
        }

        @Sendable static func waitForCondition(_ posix: Posix, seconds: Int) -> Bool {
            var end = posix.moment(in: seconds)
            return pthread_cond_timedwait(posix.condition, posix.mutex, &end) == 0
        }

        @Sendable static func waitForDispatchSemaphore(_ posix: Posix, seconds: Int) -> Bool {
            defer { posix.dispatch.signal() }
            return posix.dispatch.wait(timeout: .now() + .seconds(seconds)) == .success
        }

        @Sendable static func waitForGroup(_ posix: Posix, seconds: Int) -> Bool {
            DispatchGroup().wait(timeout: .now() + .seconds(seconds)) == .success
        }
    }
#endif
