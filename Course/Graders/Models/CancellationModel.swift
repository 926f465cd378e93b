import RaceLab

/// A source and its token, as plain sequential code.
struct CancellationModel: SequentialModel {
    indirect enum Operation: Hashable, Sendable {
        /// Registers the observer with this number. It does more when it is called.
        case observe(Int, inside: [Operation] = [])
        case withdraw(Int)
        case cancel
        /// Reads `isCancelled`.
        case read(Int)
        /// The observer with this number is called.
        case call(Int)
    }

    private struct Observer: Hashable {
        let inside: [Operation]
        var isWithdrawn = false
    }

    private var isCancelled = false
    private var observers: [Int: Observer] = [:]

    static let numbers = 8
    /// By number: 1 for each call of the observer; what was read, 0 or 1.
    private(set) var seen: [[Int]] = Array(repeating: [], count: numbers)

    func after(_ operation: Operation) -> [Following<Self>] {
        var next = self
        switch operation {
        case .observe(let number, let inside):
            next.observers[number] = Observer(inside: inside)
            return [Following(next, next: isCancelled ? [.call(number)] : [])]
        case .withdraw(let number):
            next.observers[number]?.isWithdrawn = true
        case .cancel:
            guard !isCancelled else { break }
            next.isCancelled = true
            let called = observers.filter { !$0.value.isWithdrawn }.keys.sorted()
            return Settling.orders(called.count, upTo: called.count)
                .filter { $0.count == called.count }
                .map { order in Following(next, next: order.map { .call(called[$0]) }) }
        case .read(let number):
            next.seen[number].append(isCancelled ? 1 : 0)
        case .call(let number):
            next.seen[number].append(1)
            let isCalled = Following(next, next: observers[number]!.inside)
            // One that is withdrawn meanwhile need not be called.
            return observers[number]!.isWithdrawn ? [isCalled, Following(self)] : [isCalled]
        }
        return [Following(next)]
    }

    static func fault(
        _ seen: [[Int]], insteadOf expected: [[Int]], end: (seen: [[Int]], expected: [[Int]])
    ) -> Fault {
        for (number, (seen, expected)) in zip(seen, expected).enumerated() where seen != expected {
            let observer = "observer \(number)"
            if seen.count == expected.count { break }
            if seen.isEmpty { return Fault("lost", "\(observer) has not been called") }
            if seen.count > 1 { return Fault("twice", "\(observer) has been called twice") }
            return end.expected[number].isEmpty
                ? Fault("wrongly called", "\(observer) has been called")
                : Fault("too early", "\(observer) has been called already")
        }
        return Fault("wrong value", "`isCancelled` has the wrong value")
    }
}

extension CancellationModel.Operation: CustomStringConvertible {
    var description: String {
        switch self {
        case .observe(let number, let inside):
            "onCancel { observer \(number)\(inside.map { "; \($0)" }.joined()) }"
        case .withdraw(let number): "withdraw(observer \(number))"
        case .cancel: "cancel()"
        case .read: "isCancelled"
        case .call: ""
        }
    }
}

/// Runs programs on an answer to exercise 11.
final class CancellationSubject: Subject, @unchecked Sendable {
    typealias Model = CancellationModel

    private let pair: any CancellationPair
    private let logs = (0..<CancellationModel.numbers).map { _ in Scenario.Log<Int>() }
    private let withdrawals = TakingTurns<[Int: () -> Void]>([:])

    init(_ answer: any CancellationAnswer) {
        pair = answer.pair()
    }

    func perform(_ operation: CancellationModel.Operation) {
        switch operation {
        case .observe(let number, let inside):
            let withdraw = pair.onCancel { [log = logs[number], unowned self] in
                log.append(1, "observer \(number) is called")
                guard log.entries.count == 1 else { return }
                for operation in inside { self.perform(operation) }
            }
            withdrawals.access { $0[number] = withdraw }
        case .withdraw(let number): withdrawals.access { $0[number] }?()
        case .cancel: pair.cancel()
        case .read(let number):
            let isCancelled = pair.isCancelled
            logs[number].append(isCancelled ? 1 : 0, "reads \(isCancelled)")
        case .call: break
        }
    }

    var seen: [[Int]] { logs.map(\.entries) }

    var states: [(title: String, value: () -> String)] {
        [("token", { self.pair.isCancelled ? "cancelled" : "-" })]
    }

    func letGo() -> Fault? { nil }
}

// MARK: The programs

enum CancellationPrograms {
    typealias Program = SmallProgram<CancellationModel>
    private typealias Operation = CancellationModel.Operation

    /// An observer that uses everything.
    private static func busy(_ number: Int) -> Operation {
        .observe(number, inside: [.observe(5), .read(6), .cancel, .withdraw(number)])
    }

    static let inSequence: [Program] = {
        var all: [[Operation]] = [[]]
        var programs: [Program] = []
        for _ in 0..<5 {
            all = all.flatMap { operations -> [[Operation]] in
                let count = operations.count {
                    if case .observe = $0 { true } else { false }
                }
                var next: [Operation] = [.observe(count), .cancel, .read(7)]
                if !operations.contains(where: { "\($0)".contains("observer 5") }) {
                    next.append(busy(count))
                }
                if count > 0 { next.append(.withdraw(0)) }
                if count > 1 { next.append(.withdraw(count - 1)) }
                return next.map { operations + [$0] }
            }
            programs += all.map { Program($0) }
        }
        // Some of four are withdrawn, the first of them again after a newcomer.
        for gone in Settling.orders(4, upTo: 4) where !gone.isEmpty {
            let again = Operation.withdraw(gone[0])
            programs.append(
                Program(
                    (0..<4).map { .observe($0) } + gone.map { .withdraw($0) } + [
                        again, .observe(4), again, .cancel, again,
                    ]))
        }
        return programs
    }()

    static let inThreads: [Program] = {
        let (one, two): ([Operation], [Operation]) = ([.observe(0)], [.observe(0), .observe(1)])
        let meetings = { (before: [[Operation]], threads: [[[Operation]]]) in
            Program.meetings(before: before, threads).map { program in
                // A second cancellation would call an observer that the first has missed.
                let isCancelled = program.threads.joined().contains(.cancel)
                return isCancelled
                    ? program
                    : Program(before: program.before, program.threads, after: [.cancel])
            }
        }
        return meetings(
            [[], one],
            [
                [[.cancel], [.observe(2)], [.cancel, .observe(2)]],
                [[.cancel], [.observe(3)], [.read(7)]],
            ])
            + meetings(
                [one, two],
                [
                    [[.withdraw(0)]],
                    [
                        [.cancel], [.observe(3)], [.withdraw(0)], [.read(7)],
                        [.observe(3), .withdraw(3)],
                    ],
                ])
            + meetings(
                [two],
                [[[.withdraw(1)], [.observe(2), .withdraw(2)]], [[.observe(3)], [.withdraw(0)]]])
            + meetings(
                [one],
                [[[.cancel]], [[.withdraw(0)], [.observe(2)]], [[.observe(3)], [.cancel]]])
    }()
}
