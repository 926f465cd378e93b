import PromiseOperators
import RaceLab

/// `whenAll`, as plain sequential code.
struct AllModel: SequentialModel {
    indirect enum Operation: Hashable, Sendable {
        /// Calls `whenAll` with these promises. The observer of the aggregate does more.
        case wait([Int], inside: [Operation] = [])
        case settle(Int, Settling)
        /// The handler of an aggregate on a promise that has settled is called; or the aggregate
        /// looks at all of its promises.
        case arrives(Int, Int?)
    }

    private struct Aggregate: Hashable {
        let list: [Int]
        let inside: [Operation]
        var received: [String] = []
    }

    private var settled: [Int: Settling] = [:]
    private var aggregates: [Aggregate] = []

    var seen: [[String]] { aggregates.map(\.received) }

    func after(_ operation: Operation) -> [Following<Self>] {
        var next = self
        switch operation {
        case .wait(let list, let inside):
            next.aggregates.append(Aggregate(list: list, inside: inside))
            return next.after(.arrives(aggregates.count, nil))
        case .settle(let promise, let settling):
            guard settled[promise] == nil else { return [Following(self)] }
            next.settled[promise] = settling
            let concerned = aggregates.indices.filter { aggregates[$0].list.contains(promise) }
            return [Following(next, next: concerned.map { .arrives($0, promise) })]
        case .arrives(let number, let promise):
            let aggregate = aggregates[number]
            guard aggregate.received.isEmpty else { return [Following(self)] }
            let received = outcomes(of: aggregate.list, promise)
            return received.isEmpty
                ? [Following(self)]
                : received.map {
                    next.aggregates[number].received = [$0]
                    return Following(next, next: aggregate.inside)
                }
        }
    }

    private func outcomes(of list: [Int], _ promise: Int?) -> [String] {
        let known = list.compactMap { settled[$0] }
        let errors = ([promise.flatMap { settled[$0] }] + known).compactMap { settling in
            if case .reject = settling { settling?.received } else { nil }
        }
        if let error = errors.first { return [error] }
        guard known.count == list.count else { return [] }
        let values = known.map { if case .fulfill(let value) = $0 { value } else { 0 } }
        return ["fulfilled \(values)"]
    }

    static func fault(
        _ seen: [[String]], insteadOf expected: [[String]],
        end: (seen: [[String]], expected: [[String]])
    ) -> Fault {
        Receiver.fault(seen, insteadOf: expected)
            ?? Fault("wrong value", "the aggregates are \(seen); they should be \(expected)")
    }
}

extension AllModel.Operation: CustomStringConvertible {
    var description: String {
        switch self {
        case .wait(let list, let inside):
            "whenAll(\(Settling.names(list)))"
                + (inside.isEmpty
                    ? ""
                    : " with an observer: {\(inside.map(\.description).joined(separator: "; "))}")
        case .settle(let promise, let settling): "\(Settling.name(promise)).\(settling)"
        case .arrives: ""
        }
    }
}

/// Runs programs on an answer to exercise 8.
final class AllSubject<Value: Sendable>: Subject {
    typealias Model = AllModel

    private let answer: any AllAnswer
    private let conversion: Conversion<Value>
    private let promises: [(promise: AWPromise<Value>, resolver: Resolver<Value>)]
    private var receivers: [Receiver] = []

    init(_ answer: any AllAnswer, _ conversion: Conversion<Value>, promises count: Int = 5) {
        self.answer = answer
        self.conversion = conversion
        promises = (0..<count).map { _ in AWPromise<Value>.pending() }
    }

    func perform(_ operation: AllModel.Operation) {
        switch operation {
        case .wait(let list, let inside):
            let receiver = Receiver()
            receivers.append(receiver)
            let number = conversion.number
            receiver.observe(answer.together(list.map { promises[$0].promise })) {
                "\($0.map(number))"
            } then: {
                for operation in inside { self.perform(operation) }
            }
        case .settle(let promise, let settling):
            promises[promise].resolver.settle(settling.outcome(conversion))
        case .arrives: break
        }
    }

    var seen: [[String]] { receivers.map(\.received) }

    var states: [(title: String, value: () -> String)] {
        [("aggregate", { self.receivers.first?.received.first ?? "pending" })]
    }

    func letGo() -> Fault? { nil }
}

// MARK: The programs

enum AllPrograms {
    typealias Program = SmallProgram<AllModel>

    private static func settling(_ order: [Int]) -> [[AllModel.Operation]] {
        Settling.all(order).map { $0.map { .settle($0.promise, $0.settling) } }
    }

    private static func fulfilling(_ order: [Int]) -> [AllModel.Operation] {
        order.map { .settle($0, .fulfill($0 + 1)) }
    }

    /// The call at each place among the settlements.
    private static func anywhere(
        _ call: [AllModel.Operation], in operations: [AllModel.Operation]
    ) -> [Program] {
        (0...operations.count).map { place in
            Program(operations[..<place] + call + operations[place...])
        }
    }

    static let inSequence: [Program] = {
        let lists = [[], [0], [0, 0], [0, 0, 0], [0, 1], [0, 1, 0], [0, 0, 1], [0, 1, 2]]
        var all = lists.flatMap { list in
            let count = Set(list).count
            return Settling.orders(count, upTo: count).filter { $0.count == count }
                .flatMap(settling).flatMap { anywhere([.wait(list)], in: $0) }
        }
        all.append(Program([.wait([0, 1, 2, 3, 4])] + fulfilling([3, 1, 4, 0, 2])))
        for second in [[0, 1], [1, 0], [1], []] {
            for operations in [[0, 1], [1, 0]].flatMap(settling) {
                all += anywhere([.wait(second)], in: operations).map {
                    Program([.wait([0, 1])] + $0.threads[0])
                }
            }
        }
        let inside =
            [[], [1], [2], [1, 2]].flatMap(settling) + [[.wait([0, 0])], [.wait([1, 0])]]
        for inside in inside {
            all += settling([0]).map { Program([.wait([0, 1, 2], inside: inside)] + $0) }
            all += settling([0]).map { Program([.wait([0], inside: inside)] + $0) }
        }
        return all.sorted { $0.threads[0].count < $1.threads[0].count }
    }()

    /// For other types of values; with `Void`, all values are equal.
    static func ofValues(equal: Bool) -> [Program] {
        inSequence.compactMap { program in
            let operations = program.threads[0]
            guard operations.count < 4 else { return nil }
            return Program(
                operations.map { operation in
                    guard equal, case .settle(let promise, .fulfill) = operation else {
                        return operation
                    }
                    return .settle(promise, .fulfill(1))
                })
        }
    }

    /// Very many promises, and as many lists of one of them.
    static let many: [Program] = {
        let all = Array(0..<Bounds.squared)
        let list = AllModel.Operation.wait(all)
        return [
            Program([list] + fulfilling(all)), Program([list] + fulfilling(all.reversed())),
            Program(fulfilling(all) + [list]),
            Program(
                [list] + fulfilling(all.dropLast()) + [.settle(Bounds.squared - 1, .reject(1))]),
            Program(all.map { _ in .wait([0]) } + fulfilling([0])),
        ]
    }()

    static let inThreads: [Program] = {
        let (two, three) = (AllModel.Operation.wait([0, 1]), AllModel.Operation.wait([0, 1, 2]))
        var all = Program.meetings(
            before: [[two], [.wait([0, 1, 0])], [two, .wait([1, 0])]],
            [settling([0]), settling([1])])
        let others = settling([0]) + settling([1]) + settling([0, 1]) + settling([1, 0])
        all += Program.meetings([[[two]], others])
        all += Program.meetings(before: settling([1]), [[[two], [.wait([1, 0])]], settling([0])])
        all += Program.meetings([[[two]], settling([0]), settling([1])])
        all += Program.meetings([[[two]], [[.wait([1, 0])]]], after: fulfilling([0, 1]))
        all += Program.meetings(
            before: [[three]],
            [[fulfilling([0])], settling([1]), [fulfilling([2]), [.settle(2, .reject(3))]]])
        return all
    }()
}
