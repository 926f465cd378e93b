#if os(Linux)
    import Foundation
    import RaceLab
    import RaceLabTesting
    import SharedSuite
    import Testing

    /// Locks of the threads library in properties. `&mutex` passes the property's address to C.
    @Suite("Locks in properties", .needsTheLab)
    struct LockVariableTests {
        fileprivate protocol Counter: AnyObject, Sendable {
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

        /// The second pair of closures belongs to a later part of the function.
        private final class AsynchronousCounter: @unchecked Sendable {
            private var mutex = pthread_mutex_t()
            var value = 0

            init() { pthread_mutex_init(&mutex, nil) }

            deinit { pthread_mutex_destroy(&mutex) }

            func add() async {
                _ = withUnsafeMutablePointer(to: &mutex) { pthread_mutex_lock($0) }
                value += 1
                _ = withUnsafeMutablePointer(to: &mutex) { pthread_mutex_unlock($0) }
                await Task.yield()
                _ = withUnsafeMutablePointer(to: &mutex) { pthread_mutex_lock($0) }
                value += 1
                _ = withUnsafeMutablePointer(to: &mutex) { pthread_mutex_unlock($0) }
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

        /// Its accessors begin the accesses, as of every class that is not final.
        private class OpenCounter: Counter, @unchecked Sendable {
            var mutex = pthread_mutex_t()
            var value = 0

            required init() { pthread_mutex_init(&mutex, nil) }

            func add() {
                pthread_mutex_lock(&mutex)
                value += 1
                pthread_mutex_unlock(&mutex)
            }
        }

        private final class InSubclass: OpenCounter, @unchecked Sendable {
            override func add() {
                withUnsafeMutablePointer(to: &mutex) { _ = pthread_mutex_lock($0) }
                value += 1
                withUnsafeMutablePointer(to: &mutex) { _ = pthread_mutex_unlock($0) }
            }
        }

        /// The accessors are the same for all types.
        private class Box<Value>: @unchecked Sendable {
            var value: Value
            init(_ value: Value) { self.value = value }
        }

        private final class StaticLock: Counter, @unchecked Sendable {
            nonisolated(unsafe) private static var mutex = pthread_mutex_t()
            var value = 0

            func add() {
                pthread_mutex_lock(&StaticLock.mutex)
                value += 1
                pthread_mutex_unlock(&StaticLock.mutex)
            }
        }

        fileprivate protocol Locking: Counter {
            var lock: pthread_rwlock_t { get set }
            var value: Int { get set }
        }

        private final class Witness: Locking, @unchecked Sendable {
            var lock = pthread_rwlock_t()
            var value = 0

            init() { pthread_rwlock_init(&lock, nil) }
        }

        private static func twoAdd<C: Counter>(_: C.Type) -> @Sendable (Scenario) -> Void {
            return { scenario in
                let counter = C()
                scenario.threads("first", "second") { counter.add() }
                scenario.check { try Scenario.require(counter.value == 2, "a count was lost") }
            }
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

        private final class Latest: @unchecked Sendable {
            var value: any Error = CancellationError()
        }

        private final class Owner: @unchecked Sendable {
            var tally = Tally()
            weak var delegate: AnyObject?
        }

        @Test("have their known result", arguments: locks + assignments)
        func known(_ program: KnownProgram) { program.check() }

        private static let locks = [
            KnownProgram("a mutex orders", explored: 2...2, twoAdd(MutexCounter.self)),
            KnownProgram(
                "a readers-writer lock orders", explored: 2...2, twoAdd(ReadersWriterCounter.self)),
            KnownProgram("a condition orders", explored: 2...2) { scenario in
                let gate = Gate()
                scenario.thread("passes") { gate.pass() }
                scenario.thread("opens") { gate.open() }
            },
            KnownProgram("a mutex in a target without calls for atomics orders", explored: 2...2) {
                scenario in
                let counter = ThreadsMutexWithoutTheSetting()
                scenario.threads("first", "second") { counter.increment() }
            },
            KnownProgram("readers of a readers-writer lock do not conflict", explored: 1...1) {
                scenario in
                let counter = ReadersWriterCounter()
                scenario.threads("first", "second") { _ = counter.value }
            },
            KnownProgram("what is accessed without the lock is a data race", .dataRace) {
                scenario in
                let counter = MutexCounter()
                scenario.thread("adds") { counter.add() }
                scenario.thread("reads") { _ = counter.value }
            },
            KnownProgram("a lock in a structure that is modified as a whole", .overlap) {
                scenario in
                let owner = Owner()
                scenario.threads("first", "second") { owner.tally.add() }
            },
            KnownProgram(
                "a mutex in a class that is not final", explored: 2...2, twoAdd(OpenCounter.self)),
            KnownProgram(
                "a pointer to a mutex of a superclass", explored: 2...2, twoAdd(InSubclass.self)),
            KnownProgram(
                "a lock that a protocol requires", explored: 2...2, twoAdd(Witness.self)),
            KnownProgram("a static mutex", explored: 2...2, twoAdd(StaticLock.self)),
            KnownProgram(
                "an access that begins where that to a lock does", .overlap, explored: 4...4
            ) { scenario in
                let (lock, count) = (Box(pthread_mutex_t()), Box(0))
                scenario.threads("first", "second") {
                    pthread_mutex_lock(&lock.value)
                    pthread_mutex_unlock(&lock.value)
                    count.value += 1
                }
            },
            KnownProgram("without a lock, in a class that is not final", .overlap) { scenario in
                let counter = OpenCounter()
                scenario.threads("first", "second") { counter.value += 1 }
            },
            KnownProgram("in closures of an asynchronous function", outcomes: ["4"]) { scenario in
                let counter = AsynchronousCounter()
                scenario.task("first") { await counter.add() }
                scenario.task("second") { await counter.add() }
                scenario.outcome { "\(counter.value)" }
            },
        ]

        /// Assignments by functions of the compiler or the runtime: none that C makes.
        private static let assignments = [
            KnownProgram(
                "in generic code", .failedCheck, .overlap, .dataRace, reason: ["made twice"]
            ) { scenario in
                let log = Scenario.Log<String>()
                let lazily = Lazily { log.append("made") }
                scenario.threads("first", "second") { _ = lazily.value }
                scenario.check { try Scenario.require(log.entries.count == 1, "made twice") }
            },
            KnownProgram("of a value of any type", .overlap) { scenario in
                let latest = Latest()
                scenario.threads("first", "second") { latest.value = CancellationError() }
            },
            KnownProgram("of a weak reference", .overlap) { scenario in
                let owner = Owner()
                scenario.threads("first", "second") { owner.delegate = owner }
            },
        ]
    }

    extension LockVariableTests.Locking {
        func add() {
            pthread_rwlock_wrlock(&lock)
            value += 1
            pthread_rwlock_unlock(&lock)
        }
    }
#endif
