import Foundation
import Synchronization
import Testing

@testable import RaceLab

/// If several instances of a class take part, a table names the instance that each row accesses.
@Suite("A table names instances", .needsTheLab)
struct ObjectTests {
    private final class Link {
        var value = 0
        var next: Link?
    }

    private static func chain(_ scenario: Scenario) {
        let promise = Link()
        let next = Link()
        promise.next = next
        scenario.thread("only") {
            promise.value = 1
            promise.next?.value = promise.value
        }
        scenario.state("value") { "\(promise.value)" }
        scenario.state("next.value") { "\(next.value)" }
        scenario.state("both") { "\(promise.value + next.value)" }
    }

    @Test("by their names in the source")
    func names() throws {
        let trace = try Exploration.replay("OOOO", Self.chain)
        #expect(trace.steps.map(\.owner) == ["promise", "promise", "promise", "next"])
        #expect(trace.columnOwners == ["promise", "next", nil])
        #expect(trace.titles == ["promise.value", "next.value", "both"])
        #expect(
            trace.owners == [Exploration.Trace.Owners(type: "Link", names: ["promise", "next"])])
        #expect(trace.table().contains("\npromise, next: Link\n"))
        #expect(trace.table().contains(" promise :"))
        #expect(trace.table().contains(" next :"))
        #expect(trace.json.contains(#""owner" : "next""#))
        #expect(trace.markdown.contains("promise.value"))
    }

    @Test("by the name of the one of several on a line whose value names the class")
    func severalOnALine() throws {
        let trace = try Exploration.replay("OO") { scenario in
            let log = Scenario.Log<String>(), first = Link(), name: String? = nil
            let second = Link(), third = Link()
            scenario.thread("only") {
                first.value = 1
                second.value = 1
            }
            scenario.check { _ = (log.entries, name, third.value) }
        }
        #expect(trace.steps.map(\.owner) == ["first", "P"])
    }

    @Test("by letters if the source has no names, or the same name twice")
    func letters() throws {
        let trace = try Exploration.replay("OOO") { scenario in
            let links = [Link(), Link()]
            func made() -> Link {
                let link = Link()
                return link
            }
            let others = [made(), made()]
            scenario.thread("only") {
                links[0].value = 1
                others[1].value = 1
                links[1].value = 1
            }
        }
        #expect(trace.steps.map(\.owner) == ["P", "S", "Q"])
        #expect(trace.owners.map(\.names) == [["P", "Q", "S"]])
    }

    private final class Optionally<Value>: @unchecked Sendable {
        let lock = NSLock()
        /// Without a result, nothing is written to most of this memory.
        var result: Result<(Value, Value, Value, Value), any Error>?
    }

    @Test("instances are looked up before the scenario releases them")
    func released() throws {
        let trace = try Exploration.replay("OO") { scenario in
            let first = LockedByFoundation()
            let second = LockedByFoundation()
            scenario.thread("only") {
                first.lock.withLock {}
                second.lock.withLock {}
            }
        }
        #expect(trace.steps.map(\.owner) == ["first", "second"])
    }

    @Test("what memory contained before an instance was created there does not count")
    func usedAgain() throws {
        let trace = try Exploration.replay("OO") { scenario in
            let first = Optionally<Int>()
            // What the lock refers to: the memory of the mutex, among others.
            let lock = UnsafePointer<UInt>(bitPattern: unsafeBitCast(first.lock, to: UInt.self))!
            // Of the size of an instance, or a little larger.
            let blocks = (0..<20).map { [UInt](repeating: lock[2], count: 3 + $0 / 5) }
            _ = consume blocks
            let second = Optionally<Int>()
            scenario.thread("only") {
                first.lock.withLock {}
                second.lock.withLock {}
            }
        }
        #expect(trace.steps.map(\.owner) == ["first", "second"])
    }

    @Test("instances of different classes, or a single one, need no names")
    func alone() throws {
        final class Other {
            var value = 0
        }
        let trace = try Exploration.replay("OO") { scenario in
            let link = Link()
            let other = Other()
            scenario.thread("only") {
                link.value = 1
                other.value = 1
            }
            scenario.state("value") { "\(link.value)" }
        }
        #expect(trace.steps.allSatisfy { $0.owner == nil })
        #expect(trace.titles == ["value"])
        #expect(trace.legend == ["Line numbers refer to ObjectTests.swift."])
    }

    private final class Locked {
        private let lock = Mutex(0)
        func set(_ value: Int, _ during: () -> Void = {}) {
            lock.withLock {
                $0 = value
                during()
            }
        }
        var value: Int { lock.withLock { $0 } }
    }

    private final class LockedByFoundation {
        let lock = NSLock()
        private var stored = 0
        func set(_ value: Int, _ during: () -> Void = {}) {
            lock.lock()
            stored = value
            during()
            lock.unlock()
        }
        var value: Int {
            lock.lock()
            defer { lock.unlock() }
            return stored
        }
    }

    /// A lock made by hand: a thread that wants it waits for a condition, or in a loop.
    private final class LockedByHand: @unchecked Sendable {
        let condition: NSCondition?
        private var isTaken = false
        private var stored = 0

        init(_ condition: NSCondition?) { self.condition = condition }

        private func take() {
            condition?.lock()
            while isTaken { condition?.wait() }
            isTaken = true
            condition?.unlock()
        }

        private func release() {
            condition?.lock()
            isTaken = false
            condition?.signal()
            condition?.unlock()
        }

        var value: Int {
            take()
            defer { release() }
            return stored
        }

        func set(_ value: Int) {
            take()
            stored = value
            release()
        }
    }

    @Test(
        "a state that would wait for a suspended thread is not read",
        arguments: ["a condition", "a loop"])
    func locksMadeByHand(kind: String) throws {
        let exploration = explore { scenario in
            let locked = LockedByHand(kind == "a condition" ? NSCondition() : nil)
            scenario.thread("only") { locked.set(1) }
            scenario.state("value") { "\(locked.value)" }
        }
        let trace = try exploration.replay(try #require(exploration.passingSchedule))
        #expect(trace.table().contains(#/stored = value .*\(locked\)/#), "\(trace.table())")
        #expect(trace.steps.last?.states == ["1"])
    }

    @Test("a state that cannot be read between two steps, because that crashes, ends nothing")
    func crashingState() throws {
        final class Result {
            var isThere = false
            var value: Int?
        }
        let exploration = explore(options: .isolated) { scenario in
            let result = Result()
            scenario.thread("settler") {
                result.isThere = true
                result.value = 1
            }
            scenario.check { try Scenario.require(false, "it always fails") }
            scenario.state("value") { result.isThere ? "\(result.value!)" : "none" }
        }
        let trace = try #require(try exploration.counterexample())
        #expect(trace.findings.map(\.kind) == [.failedCheck], "\(trace.table())")
        #expect(trace.steps.map(\.states) == [nil, ["1"]])
    }

    @Test("the lock of one instance does not hide the state of another")
    func locks() throws {
        let trace = try Exploration.replay("OO") { scenario in
            let outer = Locked()
            let inner = Locked()
            scenario.thread("only") { outer.set(1) { inner.set(2) } }
            scenario.state("value") { "\(outer.value)" }
            scenario.state("value") { "\(inner.value)" }
        }
        #expect(trace.steps.map(\.owner) == ["outer", "inner"])
        #expect(trace.titles == ["outer.value", "inner.value"])
        #expect(trace.steps.map(\.states) == [["(locked)", "0"], ["1", "2"]])
    }

    @Test("a lock of Foundation belongs to the instance that contains it")
    func locksOfFoundation() throws {
        let trace = try Exploration.replay("OOOO") { scenario in
            let outer = LockedByFoundation()
            let inner = LockedByFoundation()
            scenario.thread("only") { outer.set(1) { inner.set(2) } }
            scenario.state("value") { "\(outer.value)" }
            scenario.state("value") { "\(inner.value)" }
        }
        #expect(trace.steps.map(\.owner) == ["outer", "outer", "inner", "inner"])
        #expect(
            trace.steps.map(\.states) == [["(locked)", "0"], ["(locked)", "0"], nil, ["1", "2"]])
    }

    @Test("a state that reaches a held lock late does no harm to later reads")
    func late() throws {
        for _ in 0..<3 {
            let trace = try Exploration.replay("OOOO") { scenario in
                let first = Locked()
                let second = LockedByFoundation()
                let queue = DispatchQueue(label: "queue")
                scenario.thread("only") {
                    second.set(1) { first.set(1) }
                    first.set(2)
                }
                // It already holds two locks when it reaches the third.
                scenario.state("sum") {
                    first.set(first.value) {}
                    return queue.sync { "\(second.value)" }
                }
            }
            #expect(trace.steps.map(\.states) == [nil, nil, ["1"], ["1"]])
        }
    }

    @Test("no instance has the letter of a thread")
    func lettersOfThreads() throws {
        let trace = try Exploration.replay("PQQ") { scenario in
            let links = (0..<3).map { _ in Link() }
            scenario.thread("pays") { links[0].value = 1 }
            scenario.thread("quits") { links[1].value = links[2].value }
        }
        #expect(Set(trace.steps.compactMap(\.owner)).isDisjoint(with: ["P", "Q"]))
        #expect(trace.table().contains("R, S, T: Link"), "\(trace.table())")
    }
}

/// With many threads, a column for each would be too narrow to read.
@Suite("Many threads share a column", .needsTheLab)
struct ManyThreadsTests {
    private static func scenario(_ count: Int) -> (Scenario) -> Void {
        { scenario in
            final class Counter {
                var someLongerName = 0
            }
            let counter = Counter()
            for index in 0..<count {
                scenario.thread("\(index) thread") {
                    counter.someLongerName += counter.someLongerName < 100 ? 1 : 2
                }
            }
            scenario.state("value") { "\(counter.someLongerName)" }
        }
    }

    @Test("a table of eight threads is readable in 100 columns; two threads have a column each")
    func eight() throws {
        let schedule = Exploration.Schedule((0..<8).flatMap { [$0, $0] })
        let text = try Exploration.replay(schedule, Self.scenario(8)).table(width: 100)
        let lines = text.components(separatedBy: "\n")
        let statement = "counter.someLongerName += counter.someLongerName < 100 ? 1 : 2"
        #expect(lines.count { $0.contains(statement) } == 16)
        #expect(lines.allSatisfy { $0.count <= 100 })
        #expect(lines[0].hasPrefix("A 0 thread, B 1 thread"))
        #expect(lines.contains { $0.hasPrefix(" 3  B ") && $0.contains(statement) })
        #expect(text.contains("→ value 8"))
        #expect(lines.last == "Line numbers refer to ObjectTests.swift.")
        let two = try Exploration.replay(Exploration.Schedule([0, 0, 1, 1]), Self.scenario(2))
            .table(width: 100)
        #expect(two.hasPrefix("    0 thread "))
    }

    @Test("four threads share a column if a place would be cut off")
    func four() throws {
        let waiter = "the task that waits for the others"
        let line = #line + 7
        let exploration = explore { scenario in
            let kept = Mutex<UnsafeContinuation<Void, Never>?>(nil)
            scenario.task(waiter) {
                await withUnsafeContinuation { continuation in kept.withLock { $0 = continuation } }
            }
            for index in 1...3 {
                scenario.thread("\(index)") { kept.withLock { $0.take() }?.resume() }
            }
        }
        let trace = try exploration.replay(try #require(exploration.passingSchedule))
        let rows = trace.table(width: 100).split(separator: "\n")
        let resumes = try #require(rows.first { $0.contains("resumes '\(waiter)'") })
        #expect(resumes.contains(":\(line) "), "\(resumes)")
    }
}
