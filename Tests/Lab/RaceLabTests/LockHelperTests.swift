#if os(Linux)

    import CRaceLab
    import Foundation
    import RaceLab
    import RaceLabTesting
    import Testing

    /// A lock that is taken in a helper is shown where the helper is called.
    @Suite("Helpers that take a lock", .needsTheLab)
    struct LockHelperTests {
        /// A lock made by hand, and helpers around it, one in the other.
        private final class Lock: @unchecked Sendable {
            private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

            init() { pthread_mutex_init(mutex, nil) }

            deinit { mutex.deallocate() }

            func lock() {
                let result = pthread_mutex_lock(mutex)
                precondition(result == 0)
            }

            func unlock() { pthread_mutex_unlock(mutex) }

            func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
                lock()
                defer { unlock() }
                return try body()
            }
        }

        private final class Account: @unchecked Sendable {
            private let mine = Lock()
            private let yours = Lock()
            private var balance = 0

            func deposit() {
                mine.locked {
                    yours.locked { balance += 1 }
                }
            }

            func withdraw() {
                yours.lock()
                mine.lock()
                balance -= 1
                mine.unlock()
                yours.unlock()
            }

            /// It keeps the function, so it is no helper.
            func later(_ function: @escaping () -> Void) {
                mine.lock()
                let keep = function
                mine.unlock()
                keep()
            }
        }

        @Test("rows, and the places at which threads wait, are those of the callers")
        func rows() throws {
            let exploration = explore { scenario in
                let account = Account()
                scenario.thread("deposit") { account.deposit() }
                scenario.thread("withdraw") { account.withdraw() }
            }
            let deadlock = try #require(exploration.findings.first { $0.kind == .deadlock })
            let lines = try ["mine.locked {", "yours.locked {", "yours.lock()", "mine.lock()"].map {
                try lineNumber(of: $0)
            }
            #expect(
                deadlock.reason == """
                    'deposit' waits at LockHelperTests.swift:\(lines[1]) for the lock that 'withdraw' \
                    took at LockHelperTests.swift:\(lines[2]); 'withdraw' waits at \
                    LockHelperTests.swift:\(lines[3]) for the lock that 'deposit' took at \
                    LockHelperTests.swift:\(lines[0])
                    """)
            let trace = try #require(try exploration.counterexample(showing: deadlock))
            #expect(trace.steps.map { $0.site?.line } == [lines[0], lines[2]])
            #expect(trace.waiting.map { $0.site?.line } == [lines[1], lines[3]])
        }

        @Test("a function that keeps what it is passed is shown itself")
        func keeping() throws {
            let exploration = explore { scenario in
                let account = Account()
                scenario.thread("one") { account.later {} }
                scenario.thread("other") { account.withdraw() }
            }
            let schedule = try #require(exploration.passingSchedule)
            let trace = try exploration.replay(schedule)
            let line = try lineNumber(of: "let keep = function") - 1
            #expect(trace.steps.first { $0.thread == 0 }?.site?.line == line)
        }

        @Test(
            "helpers are known by their signature",
            arguments: [
                ("NIO.NIOLock.withLock<A>(() throws -> A) throws -> A", true),
                ("Lab.(Lock in _5216A570).whileLocked<A>(() -> A) -> A", true),
                ("Lab.Mutexes.(perform in _5216A570)(() -> ()) -> ()", true),
                (
                    "(extension in Lab):Foundation.NSLocking.protect<A>(by: Swift.Int, _: () -> A) -> A",
                    true
                ),
                ("Lab.Atomic<A>.modify((inout A) -> B) -> B", true),
                ("Lab.Lock.lock() -> ()", true),
                ("Lab.Lock.tryLock() -> Swift.Bool", true),
                ("lab_unfair_lock_lock", true),
                ("(anonymous namespace)::PThreadMutex::lock()", true),
                ("lab::(anonymous namespace)::Mutex::lock()", true),
                ("std::lock_guard<std::mutex>::lock_guard(std::mutex&)", true),
                ("(anonymous namespace)::PThreadMutex::unlock()", false),
                ("lab::block(std::function<void ()>)", false),
                ("lab::operator<<(std::ostream&, lab::Log const&)", false),
                ("static Lab.Version.< infix(Lab.Version, Lab.Version) -> Swift.Bool", false),
                ("lock", true),
                ("Lab.Promise.then<A>(A) -> Lab.Promise<A>", false),
                ("Lab.Promise.finish(with: Swift.Optional<() -> ()>) -> ()", false),
                ("Lab.Promise.finish(with: (() -> ())?) -> ()", false),
                ("Lab.Philosopher.dine(() -> ()) -> ()", false),
                ("Lock.Clock.nonblocking(() -> ()) -> ()", false),
                ("Lab.AsyncChannel.send(() -> ()) -> ()", false),
                ("Lab.Promise.block() -> ()", false),
                ("Lab.Lock.value.getter : Swift.Int", false),
                ("closure #1 () -> () in Lab.Promise.withLock(() -> ()) -> ()", false),
                ("$defer #1 () -> () in Lab.Lock.withLock<A>(() -> A) -> A", false),
                ("Lab.Promise.settle(Swift.Int) -> ()", false),
                ("unlock_all", false), ("block", false), ("", false),
            ])
        func signatures(name: String, isHelper: Bool) {
            #expect(rl_takes_lock_for_caller(name, true) == isHelper)
        }

        @Test("a function that is kept for later makes no helper")
        func later() {
            #expect(!rl_takes_lock_for_caller("Lab.Promise.then((A) -> B) -> ()", false))
            #expect(rl_takes_lock_for_caller("Lab.Lock.lock(then: () -> ()) -> ()", false))
        }

        private func lineNumber(of text: String) throws -> Int {
            let source = try String(contentsOfFile: #filePath, encoding: .utf8)
            let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
            return try #require(lines.firstIndex { $0.contains(text) }) + 1
        }
    }

#endif
