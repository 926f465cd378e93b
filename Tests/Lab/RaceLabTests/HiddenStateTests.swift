#if os(Linux)
    import Foundation
    import RaceLab
    import Synchronization
    import Testing

    /// Loops that give up after some attempts, and count them where the lab does not look.
    @Suite("Loops that end by themselves", .needsTheLab)
    struct HiddenStateTests {
        @Test("giving up is explored, and so is success", arguments: programs)
        func known(_ program: KnownProgram) { program.check() }

        @Test("a replay finds out by itself that a loop ends")
        func replays() throws {
            let found = try #require(try explore(Self.givesUp).counterexample())
            let trace = try Exploration.replay(found.scheduleText, Self.givesUp)
            #expect(trace.scheduleText == found.scheduleText)
            #expect(trace.findings.map(\.reason) == found.findings.map(\.reason))
        }

        private static func givesUp(_ scenario: Scenario) {
            let (flag, numbers) = (Change(), AnyIterator((0..<3).makeIterator()))
            var succeeds = true
            scenario.thread("waits") { succeeds = waits(for: flag) { numbers.next() != nil } }
            scenario.thread("sets") { flag.set() }
            scenario.check { try Scenario.require(succeeds, "gave up") }
        }

        private static let programs = [
            attempts("a variable counts") { isSet in
                {
                    for _ in 0..<3 where isSet() { return true }
                    return false
                }
            },
            attempts("a local array grows") { isSet in
                {
                    var seen: [Int] = []
                    while seen.count < 3 {
                        if isSet() { return true }
                        seen.append(0)
                    }
                    return false
                }
            },
            attempts("a local object counts, and is replaced by another one") { isSet in
                {
                    var last = Counter()
                    while last.value < 3 {
                        if isSet() { return true }
                        let next = Counter()
                        next.value = last.value + 1
                        last = next
                    }
                    return false
                }
            },
            attempts("an `inout` parameter counts") { isSet in
                let budget = HasBudget()
                return { waits(&budget.budget, isSet) }
            },
            attempts("a `Mutex` protects the counter") { isSet in
                let budget = Box(Mutex(Budget()))
                return {
                    while !isSet() { if budget.value.withLock({ !$0.next() }) { return false } }
                    return true
                }
            },
            attempts("an array of Foundation grows") { isSet in
                let attempts = NSMutableArray()
                return {
                    while !isSet() {
                        if attempts.count == 3 { return false }
                        attempts.add(1)
                    }
                    return true
                }
            },
            attempts("it asks twice, and an array of Foundation grows") { isSet in
                let attempts = NSMutableArray()
                return {
                    while !isSet(), !isSet() {
                        if attempts.count == 3 { return false }
                        attempts.add(1)
                    }
                    return true
                }
            },
            attempts("a local array is larger than the lab looks at") { isSet in
                {
                    var many = [Int](repeating: 0, count: 1_000)
                    while !isSet() {
                        many[900] += 1
                        if many[900] == 3 { return false }
                    }
                    return true
                }
            },
            KnownProgram(
                "a task yields, and an iterator counts", outcomes: ["true", "false"],
                everyOrder: true
            ) { scenario in
                let (flag, numbers) = (Change(), AnyIterator((0..<2).makeIterator()))
                var succeeds = true
                scenario.task("waits") {
                    while !flag.isSet {
                        if numbers.next() == nil {
                            succeeds = false
                            break
                        }
                        await Task.yield()
                    }
                }
                scenario.thread("sets") { flag.set() }
                scenario.outcome { "\(succeeds)" }
            },
            KnownProgram(
                "attempts at a semaphore", outcomes: ["true", "false"], everyOrder: true
            ) { scenario in
                let (semaphore, budget) = (DispatchSemaphore(value: 0), HasBudget())
                var succeeds = true
                scenario.thread("waits") {
                    succeeds = waits(&budget.budget) { semaphore.wait(timeout: .now()) == .success }
                }
                scenario.thread("signals") { semaphore.signal() }
                scenario.outcome { "\(succeeds)" }
            },
            KnownProgram("it crashes when it gives up", .crash, options: .isolated) { scenario in
                let (flag, budget) = (Change(), HasBudget())
                scenario.thread("waits") {
                    let isSet = waits(&budget.budget) { flag.isSet }
                    precondition(isSet, "gave up")
                }
                scenario.thread("sets") { flag.set() }
            },
            KnownProgram("a loop that also asks a group only waits", outcomes: ["done"]) {
                scenario in
                let (flag, group) = (Change(), DispatchGroup())
                scenario.thread("waits") {
                    while !flag.isSet {
                        _ = group.wait(timeout: .now())
                    }
                }
                scenario.thread("sets") { flag.set() }
                scenario.outcome { "done" }
            },
            KnownProgram(
                "a loop that counts, but only waits, still ends", outcomes: ["done"],
                explored: 1...9
            ) { scenario in
                let (flag, budget) = (Change(), HasBudget())
                scenario.thread("waits") {
                    count(&budget.budget) { flag.isSet }
                }
                scenario.thread("sets") { flag.set() }
                scenario.outcome { "done" }
            },
            KnownProgram(
                "attempts at a lock, against a critical section without steps",
                outcomes: ["true", "false"], everyOrder: true
            ) { scenario in
                let (lock, budget) = (NSLock(), HasBudget())
                var succeeds = true
                scenario.thread("tries") {
                    succeeds = waits(&budget.budget) { lock.try() }
                    if succeeds { lock.unlock() }
                }
                scenario.thread("locks") {
                    lock.lock()
                    lock.unlock()
                }
                scenario.outcome { "\(succeeds)" }
            },
            KnownProgram(
                "two loops in a row wait in one function; the first may give up",
                outcomes: ["true", "false"], everyOrder: true
            ) { scenario in
                let (first, second) = (Change(), Change())
                let numbers = AnyIterator((0..<3).makeIterator())
                var succeeds = true
                scenario.thread("waits") {
                    succeeds = waits(for: first) { numbers.next() != nil }
                    _ = waits(for: second) { true }
                }
                scenario.thread("sets") {
                    first.set()
                    second.set()
                }
                scenario.outcome { "\(succeeds)" }
            },
        ]

        private static func attempts(
            _ description: String,
            _ make: @escaping @Sendable (@escaping () -> Bool) -> () -> Bool
        ) -> KnownProgram {
            KnownProgram(description, outcomes: ["true", "false"], everyOrder: true) { scenario in
                let flag = Change()
                let wait = make { flag.isSet }
                var succeeds = true
                scenario.thread("waits") { succeeds = wait() }
                scenario.thread("sets") { flag.set() }
                scenario.outcome { "\(succeeds)" }
            }
        }

        private static func waits(_ budget: inout Budget, _ isSet: () -> Bool) -> Bool {
            while !isSet() { if !budget.next() { return false } }
            return true
        }

        private static func waits(
            for flag: Change, mayGoOn: () -> Bool
        ) -> Bool {
            while !flag.isSet {
                if !mayGoOn() { return false }
            }
            return true
        }

        private static func count(_ budget: inout Budget, _ isSet: () -> Bool) {
            while !isSet() { _ = budget.next() }
        }
    }

    private struct Budget {
        private var attempts = 0

        mutating func next() -> Bool {
            attempts += 1
            return attempts < 3
        }
    }

    private final class HasBudget: @unchecked Sendable { var budget = Budget() }
#endif
