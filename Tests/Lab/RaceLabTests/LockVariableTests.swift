#if os(Linux)
    import Foundation
    import RaceLab
    import RaceLabTesting
    import SharedSuite
    import Testing

    /// Locks of the threads library in properties. `&mutex` passes the property's address to C.
    @Suite("Locks in properties", .needsTheLab)
    struct LockVariableTests {
        private protocol Counter: AnyObject, Sendable {
            init()
            func add()
            var value: Int { get }
        }

        private final class MutexCounter: Counter, @unchecked Sendable {
            private var mutex = pthread_mutex_t()
            var value = 0

            init() { pthread_mutex_init(&mutex, nil) }

            deinit { pthread_mutex_destroy(&mutex) }

            func add() {
                pthread_mutex_lock(&mutex)
                value += 1
                pthread_mutex_unlock(&mutex)
            }
        }

        private final class ReadersWriterCounter: Counter, @unchecked Sendable {
            private var lock = pthread_rwlock_t()
            private var count = 0

            init() { pthread_rwlock_init(&lock, nil) }

            deinit { pthread_rwlock_destroy(&lock) }

            func add() {
                pthread_rwlock_wrlock(&lock)
                count += 1
                pthread_rwlock_unlock(&lock)
            }

            var value: Int {
                pthread_rwlock_rdlock(&lock)
                defer { pthread_rwlock_unlock(&lock) }
                return count
            }
        }

        private final class SemaphoreCounter: Counter, @unchecked Sendable {
            private var semaphore = sem_t()
            var value = 0

            init() { sem_init(&semaphore, 0, 1) }

            func add() {
                sem_wait(&semaphore)
                value += 1
                sem_post(&semaphore)
            }
        }

        private final class Gate: @unchecked Sendable {
            private var mutex = pthread_mutex_t()
            private var condition = pthread_cond_t()
            private var isOpen = false

            init() {
                pthread_mutex_init(&mutex, nil)
                pthread_cond_init(&condition, nil)
            }

            func pass() {
                pthread_mutex_lock(&mutex)
                while !isOpen { pthread_cond_wait(&condition, &mutex) }
                pthread_mutex_unlock(&mutex)
            }

            func open() {
                pthread_mutex_lock(&mutex)
                isOpen = true
                pthread_cond_signal(&condition)
                pthread_mutex_unlock(&mutex)
            }
        }

        private static func twoAdd<C: Counter>(_: C.Type) -> (Scenario) -> Void {
            return { scenario in
                let counter = C()
                for name in ["first", "second"] { scenario.thread(name) { counter.add() } }
                scenario.check { try Scenario.require(counter.value == 2, "a count was lost") }
            }
        }

        private static func expectTwoOrders(_ exploration: Exploration) {
            #expect(exploration.survives, "\(exploration.summary)")
            #expect(exploration.explored == 2)
        }

        @Test("a lock, a semaphore and a condition order what they protect")
        func orders() {
            Self.expectTwoOrders(explore(Self.twoAdd(MutexCounter.self)))
            Self.expectTwoOrders(explore(Self.twoAdd(ReadersWriterCounter.self)))
            Self.expectTwoOrders(explore(Self.twoAdd(SemaphoreCounter.self)))
            let opened = explore { scenario in
                let gate = Gate()
                scenario.thread("passes") { gate.pass() }
                scenario.thread("opens") { gate.open() }
            }
            Self.expectTwoOrders(opened)
        }

        @Test("also in a target that is compiled without calls for atomics")
        func withoutTheSetting() {
            let exploration = explore { scenario in
                let counter = ThreadsMutexWithoutTheSetting()
                for name in ["first", "second"] { scenario.thread(name) { counter.increment() } }
            }
            Self.expectTwoOrders(exploration)
        }

        @Test("readers of a readers-writer lock do not conflict")
        func readers() {
            let exploration = explore { scenario in
                let counter = ReadersWriterCounter()
                for name in ["first", "second"] { scenario.thread(name) { _ = counter.value } }
            }
            #expect(exploration.survives && exploration.explored == 1, "\(exploration.summary)")
        }

        @Test("what is accessed without the lock is a data race")
        func withoutLock() {
            let exploration = explore { scenario in
                let counter = MutexCounter()
                scenario.thread("adds") { counter.add() }
                scenario.thread("reads") { _ = counter.value }
            }
            #expect(exploration.failing > 0, "\(exploration.summary)")
            #expect(exploration.findings.allSatisfy { $0.kind == .dataRace })
        }

        @Test("in child processes, the verdict is the same")
        func isolated() {
            var options = Exploration.Options()
            options.isolation = .childProcess()
            Self.expectTwoOrders(explore(options: options, Self.twoAdd(MutexCounter.self)))
        }

        /// All of it is modified at once, the count as well.
        private struct Tally {
            private var mutex = pthread_mutex_t()
            private var count = 0

            mutating func add() {
                pthread_mutex_lock(&mutex)
                count += 1
                pthread_mutex_unlock(&mutex)
            }
        }

        @Test("a lock inside of a structure that is modified as a whole does not order that")
        func structure() {
            final class Owner: @unchecked Sendable { var tally = Tally() }
            let exploration = explore { scenario in
                let owner = Owner()
                for name in ["first", "second"] { scenario.thread(name) { owner.tally.add() } }
            }
            #expect(exploration.findings.contains { $0.kind == .overlap }, "\(exploration.summary)")
        }

        // MARK: Assignments by functions of the compiler

        private final class Lazily<Value>: @unchecked Sendable {
            private var made: Value?
            private let make: () -> Value

            init(_ make: @escaping () -> Value) { self.make = make }

            var value: Value {
                if let made { return made }
                made = make()
                return made!
            }
        }

        @Test("an assignment in generic code is none that C makes")
        func generic() {
            let exploration = explore { scenario in
                let log = Scenario.Log<String>()
                let lazily = Lazily { log.append("made") }
                for name in ["first", "second"] { scenario.thread(name) { _ = lazily.value } }
                scenario.check { try Scenario.require(log.entries.count == 1, "made twice") }
            }
            #expect(exploration.inconclusive == nil, "\(exploration.summary)")
            #expect(exploration.findings.map(\.reason).contains("made twice"))
        }

        @Test("nor is one of a value of any type")
        func existential() {
            final class Latest: @unchecked Sendable { var value: any Error = CancellationError() }
            let exploration = explore { scenario in
                let latest = Latest()
                for name in ["first", "second"] {
                    scenario.thread(name) { latest.value = CancellationError() }
                }
            }
            #expect(exploration.inconclusive == nil, "\(exploration.summary)")
            #expect(exploration.findings.contains { $0.kind == .overlap })
        }

        @Test("nor is one of a weak reference, which the runtime makes")
        func weakReference() {
            final class Owner: @unchecked Sendable { weak var delegate: AnyObject? }
            let exploration = explore { scenario in
                let owner = Owner()
                for name in ["first", "second"] {
                    scenario.thread(name) { owner.delegate = owner }
                }
            }
            #expect(exploration.inconclusive == nil, "\(exploration.summary)")
            #expect(exploration.findings.contains { $0.kind == .overlap })
        }
    }
#endif
