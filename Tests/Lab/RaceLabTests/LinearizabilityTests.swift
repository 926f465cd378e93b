import RaceLabTesting
import Synchronization
import Testing

@testable import RaceLab

/// Small programs on correct and incorrect classes. An incorrect class is found by the smallest
/// program that exposes it, and a correct one passes all programs.
@Suite("Linearizability", .needsTheLab)
struct LinearizabilityTests {
    // MARK: A stack

    /// A stack whose operations have one critical section each, or two.
    final class Stack: Sendable {
        private let elements = Mutex<[Int]>([])
        private let inTwoSections: Bool

        init(inTwoSections: Bool) { self.inTwoSections = inTwoSections }

        func push(_ element: Int) { elements.withLock { $0.append(element) } }

        func pop() -> Int? {
            guard inTwoSections else { return elements.withLock { $0.popLast() } }
            let top = elements.withLock { $0.last }
            elements.withLock { _ = $0.popLast() }
            return top
        }
    }

    private func stacks(inTwoSections: Bool) -> Linearizability<Stack, [Int]> {
        Linearizability(
            of: { Stack(inTwoSections: inTwoSections) }, model: [],
            operations: [
                .init("push(1)", { $0.push(1) }, model: { $0.append(1) }),
                .init("push(2)", { $0.push(2) }, model: { $0.append(2) }),
                .init("pop()", { $0.pop() }, model: { $0.popLast() }),
            ])
    }

    @Test("A stack with one critical section for each operation")
    func rightStack() {
        var stacks = stacks(inTwoSections: false)
        stacks.maximumOperations = 3
        let result = stacks.explore()
        #expect(result.isLinearizable, "\(result)")
        #expect(result.programs == 61)
        #expect(result.interleavings > result.programs)
    }

    @Test("An element is removed although no thread received it")
    func wrongStack() throws {
        let result = stacks(inTwoSections: true).explore()
        let failure = try #require(result.failure)
        #expect(failure.program == "A: push(1) ∥ B: pop(); pop()")
        #expect(failure.exploration.findings.map(\.kind) == [.failedCheck])
        #expect(
            failure.exploration.findings.first?.reason == """
                no order of the operations explains the results: A: push(1) = (); \
                B: pop() = nil, pop() = nil
                """)
        #expect("\(result)".hasPrefix("not linearizable: \(failure.program)\nno order"))
        #expect("\(result)".contains("» pop() returns nil"))
        #expect(!result.isLinearizable)
    }

    // MARK: A queue

    /// A queue that reserves a slot before it writes to it.
    final class SlotQueue: Sendable {
        private struct Slots {
            var elements: [Int?] = []
            var first = 0
        }

        private let slots = Mutex(Slots())

        func enqueue(_ element: Int) {
            let slot = slots.withLock { slots in
                slots.elements.append(nil)
                return slots.elements.count - 1
            }
            slots.withLock { $0.elements[slot] = element }
        }

        func dequeue() -> Int? {
            slots.withLock { slots in
                guard slots.first < slots.elements.count, let next = slots.elements[slots.first]
                else { return nil }
                slots.first += 1
                return next
            }
        }
    }

    @Test("A queue that appears to be empty although an element was added before")
    func wrongQueue() throws {
        let queues = Linearizability(
            of: { SlotQueue() }, model: [Int](),
            operations: [
                .init("enqueue(1)", { $0.enqueue(1) }, model: { $0.append(1) }),
                .init(
                    "dequeue()", { $0.dequeue() },
                    model: { $0.isEmpty ? nil : $0.removeFirst() }),
            ])
        let failure = try #require(queues.explore().failure)
        #expect(failure.program == "A: enqueue(1) ∥ B: enqueue(1); dequeue()")
    }

    // MARK: Verdicts

    @Test("An error is a result like others")
    func errors() throws {
        struct Empty: Error {}
        func stacks(fails: @escaping (Int) -> Bool) -> Linearizability<Counter, Int> {
            Linearizability(
                of: { Counter() }, model: 0,
                operations: [
                    .init(
                        "take()", { _ in throw Empty() },
                        model: { (state: inout Int) in
                            state += 1
                            if fails(state) { throw Empty() }
                        })
                ])
        }
        #expect(stacks(fails: { _ in true }).explore().isLinearizable)
        #expect(stacks(fails: { $0 < 2 }).explore().failure != nil)
    }

    @Test("A program that was not explored completely is inconclusive")
    func inconclusive() {
        let options = Exploration.Options.with { $0.maximumInterleavings = 1 }
        let result = stacks(inTwoSections: false).explore(options: options)
        #expect(!result.isLinearizable)
        #expect(result.failure == nil)
        #expect(result.inconclusive?.program == "A: push(1) ∥ B: push(1)")
        #expect(result.description.hasPrefix("inconclusive: A: push(1) ∥ B: push(1): "))
    }

    @Test("A test without operations is inconclusive")
    func noOperations() {
        let nothing = Linearizability(of: { Counter() }, model: 0, operations: [])
        #expect(!nothing.explore().isLinearizable)
    }

    // MARK: Parts

    @Test(
        "The number of programs",
        arguments: [
            (1, 2, 2, 1), (2, 2, 2, 3), (1, 3, 2, 3), (1, 3, 3, 4), (2, 3, 3, 21), (3, 3, 3, 61),
            (3, 4, 3, 406), (3, 5, 3, 2224),
        ])
    func programs(operations: Int, maximum: Int, threads: Int, count: Int) {
        let programs = Array(
            SmallProgram.all(operations: operations, upTo: maximum, threads: threads))
        #expect(programs.count == count)
        #expect(Set(programs).count == count)
    }

    /// A register that holds 0: one thread writes 1, another one reads.
    private func history(readBeginsAfterWrite: Bool, reads value: Int) -> History {
        let (writes, reads) = (Event.begins(thread: 0), Event.begins(thread: 1))
        let wrote = Event.ends(thread: 0, operation: 0, OperationResult { Nothing() })
        let events: [Event] =
            readBeginsAfterWrite
            ? [writes, wrote, reads] : [writes, reads, wrote]
        let result = OperationResult { value }
        return History(events + [.ends(thread: 1, operation: 1, result)])
    }

    @Test(
        "Operations that do not overlap keep their order; others are unordered",
        arguments: [(true, 0, false), (true, 1, true), (false, 0, true), (false, 1, true)])
    func order(readBeginsAfterWrite: Bool, value: Int, isExplained: Bool) {
        let steps: [(inout Int) -> OperationResult] = [
            { state in
                state = 1
                return OperationResult { Nothing() }
            },
            { state in OperationResult { state } },
        ]
        let history = history(readBeginsAfterWrite: readBeginsAfterWrite, reads: value)
        #expect(history.isExplained(from: 0, by: steps) == isExplained)
    }
}
