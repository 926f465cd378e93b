import Dispatch
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
        /// The source is released. The token lives on.
        case releaseSource
        /// Source and token are released. The registrations live on.
        case release
        case signal(Int)
        case wait(Int)
        /// The observer with this number is called.
        case call(Int)
    }

    private struct Observer: Hashable {
        let inside: [Operation]
        var isWithdrawn = false
    }

    private var isCancelled = false
    private var observers: [Int: Observer] = [:]
    private var signals: [Int: Int] = [:]
    /// Whether the source lives, so that it can cancel.
    private var hasSource = true

    static let numbers = 8
    /// By number: 1 for each call of the observer; for a reader, each value read, 0 or 1.
    private var events: [[Int]] = Array(repeating: [], count: numbers)

    struct Seen: Hashable {
        var events: [[Int]]
        /// What should have been released.
        var left: Fault?
    }

    var seen: Seen { Seen(events: events) }

    func after(_ operation: Operation) -> [Following<Self>] {
        var next = self
        switch operation {
        case .observe(let number, let inside):
            next.observers[number] = Observer(inside: inside)
            return [Following(model: next, next: isCancelled ? [.call(number)] : [])]
        case .withdraw(let number):
            next.observers[number]?.isWithdrawn = true
        case .cancel:
            guard !isCancelled, hasSource else { break }
            next.isCancelled = true
            let called = observers.filter { !$0.value.isWithdrawn }.keys.sorted()
            // Among observers that do nothing more, the order makes no difference.
            let isBusy = called.contains { !observers[$0]!.inside.isEmpty }
            let orders = isBusy ? Settling.orders(ofAll: called.count) : [Array(called.indices)]
            return orders.map { order in
                Following(model: next, next: order.map { .call(called[$0]) })
            }
        case .read(let number):
            next.events[number].append(isCancelled ? 1 : 0)
        case .call(let number):
            next.events[number].append(1)
            let isCalled = Following(model: next, next: observers[number]!.inside)
            // One that is withdrawn meanwhile need not be called.
            return observers[number]!.isWithdrawn ? [isCalled, Following(model: self)] : [isCalled]
        case .releaseSource, .release: next.hasSource = false
        case .signal(let semaphore): next.signals[semaphore, default: 0] += 1
        case .wait(let semaphore):
            guard let count = signals[semaphore], count > 0 else { return [] }
            next.signals[semaphore] = count - 1
        }
        return [Following(model: next)]
    }

    static func fault(
        _ seen: Seen, insteadOf expected: Seen, end: (seen: Seen, expected: Seen)
    ) -> Fault {
        let pairs = zip(seen.events, expected.events)
        for (number, (seen, expected)) in pairs.enumerated() where seen != expected {
            let observer = "observer \(number)"
            if seen.count == expected.count { break }
            if seen.isEmpty { return Fault("lost", "\(observer) has not been called") }
            if seen.count > 1 { return Fault("twice", "\(observer) has been called twice") }
            return end.expected.events[number].isEmpty
                ? Fault("wrongly called", "\(observer) has been called")
                : Fault("too early", "\(observer) has been called already")
        }
        return seen.left ?? Fault("wrong value", "`isCancelled` has the wrong value")
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
        case .releaseSource: "the source is released"
        case .release: "source and token are released"
        case .signal: "signal"
        case .wait: "wait"
        case .call: ""
        }
    }
}

/// Runs programs on an answer to exercise 11.
final class CancellationSubject: Subject, @unchecked Sendable {
    typealias Model = CancellationModel

    /// What the observers capture, so that it must be freed.
    enum Captured {
        case nothing, object
        /// Its `deinit` reads the token, and registers another observer.
        case busyObject
    }

    private var source: (any Canceller)?
    private var token: (any Cancellable)?
    private let captured: Captured
    private let logs = (0..<CancellationModel.numbers).map { _ in Scenario.Log<Int>() }
    private let semaphores = (0..<2).map { _ in DispatchSemaphore(value: 0) }
    private let standstill = Standstill()
    private let withdrawals = TakingTurns<[Int: () -> Void]>([:])
    private let withdrawn = TakingTurns<Set<Int>>([])
    private let farewells = TakingTurns<[Int: Scenario.Log<Int>]>([:])

    init(_ answer: any CancellationAnswer, capturing captured: Captured = .nothing) {
        source = answer.source()
        token = source?.gradedToken
        self.captured = captured
    }

    private final class Farewell: @unchecked Sendable {
        weak var subject: CancellationSubject?
        let log: Scenario.Log<Int>

        init(_ subject: CancellationSubject?, _ log: Scenario.Log<Int>) {
            self.subject = subject
            self.log = log
        }

        deinit {
            log.append(1, "what an observer has captured is freed")
            _ = subject?.token?.gradedIsCancelled
            subject?.token?.gradedOnCancel {}()
        }
    }

    func perform(_ operation: CancellationModel.Operation) {
        switch operation {
        case .observe(let number, let inside): observe(number, inside)
        case .withdraw(let number):
            _ = withdrawn.access { $0.insert(number) }
            withdrawals.access { $0[number] }?()
        case .cancel: source?.gradedCancel()
        case .read(let number):
            guard let isCancelled = token?.gradedIsCancelled else { return }
            logs[number].append(isCancelled ? 1 : 0, "reads \(isCancelled)")
        case .releaseSource: source = nil
        case .release: (token, source) = (nil, nil)
        case .signal(let semaphore): semaphores[semaphore].signal()
        case .wait(let semaphore): semaphores[semaphore].wait()
        case .call: break
        }
    }

    private func observe(_ number: Int, _ inside: [CancellationModel.Operation]) {
        var farewell: Farewell?
        if captured != .nothing {
            let log = Scenario.Log<Int>()
            farewells.access { $0[number] = log }
            farewell = Farewell(captured == .busyObject ? self : nil, log)
        }
        // Not weakly: then the lab would show where this object ends.
        let withdraw = token?.gradedOnCancel { [farewell, log = logs[number], self] in
            log.append(1, "observer \(number) is called")
            withExtendedLifetime(farewell) {
                guard log.entries.count == 1 else { return }
                for operation in inside {
                    if case .wait = operation {
                        standstill.during { perform(operation) }
                    } else {
                        perform(operation)
                    }
                }
            }
        }
        withdrawals.access { $0[number] = withdraw }
    }

    var seen: CancellationModel.Seen {
        let left = keptAlive { [withdrawn, logs] number in
            withdrawn.access { $0.contains(number) } || !logs[number].entries.isEmpty
        }
        return CancellationModel.Seen(events: logs.map(\.entries), left: standstill.fault ?? left)
    }

    private func keptAlive(_ isOver: (Int) -> Bool) -> Fault? {
        let alive = farewells.access { $0 }.filter { $0.value.entries.isEmpty }.keys
        return alive.sorted().first(where: isOver).map {
            Fault("kept alive", "what observer \($0) has captured is still alive")
        }
    }

    var states: [(title: String, value: () -> String)] {
        [("token", { self.token?.gradedIsCancelled == true ? "cancelled" : "-" })]
    }

    func letGo() -> Fault? {
        (token, source) = (nil, nil)
        withdrawals.access { $0 = [:] }
        return keptAlive { _ in true }
    }
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
                        again, .observe(4), again, .observe(5), .cancel, again,
                    ]))
        }
        // One of three withdraws another, or itself.
        for (caller, gone) in (0..<9).map({ ($0 / 3, $0 % 3) }) {
            let observers = (0..<3).map { number in
                Operation.observe(number, inside: number == caller ? [.withdraw(gone)] : [])
            }
            programs.append(Program(observers + [.cancel]))
        }
        // Each is withdrawn before the next one is registered.
        programs.append(Program((0..<5).flatMap { [.observe($0), .withdraw($0)] } + [.cancel]))
        for begun in [[Operation.observe(0)], [.observe(0), .cancel]] {
            programs += [
                Program(begun + [.releaseSource, .read(7), .observe(1), .withdraw(0)]),
                Program(begun + [.release, .withdraw(0)]),
            ]
        }
        for begun in [[], [Operation.cancel]] {
            programs.append(Program(begun + [.releaseSource, .read(7), .observe(1), .read(6)]))
        }
        return programs
    }()

    /// The short ones, in which observers are called, withdrawn, or registered too late; and more
    /// than two observers.
    static let ofMemory =
        inSequence.filter { $0.threads[0].count < 4 } + [
            Program([0, 1, 2].map { .observe($0) } + [.cancel, .observe(3), .observe(4)])
        ]

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
                [[.cancel], [.observe(2)], [.cancel, .observe(2)], [.cancel, .read(6)]],
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
            + meetings([[]], [[[.observe(0)]], [[.observe(1)]], [[.observe(2)]]])
            // What is over stays over, also for a reader who meets another call.
            + meetings(
                [[.observe(0), .cancel]],
                [[[.read(7)]], [[.observe(2), .withdraw(2)], [.withdraw(0)], [.cancel]]])
            // There is one observer: the order of several is up to the answer.
            + meetings([[]], [[[.cancel]], [[.observe(2, inside: [.read(6)])]]])
            + waiting
            // No cancellation takes away what a withdrawal has left.
            + Program.meetings(
                before: [two],
                [[[.withdraw(0)]], [[.observe(3)], [.withdraw(1)], [.observe(3), .withdraw(3)]]])
    }()

    /// An observer waits until another thread has used the token.
    private static let waiting: [Program] = {
        let observer = { (number: Int) in
            Operation.observe(number, inside: [.signal(1), .wait(0)])
        }
        let use: [Operation] = [
            .wait(1), .read(7), .observe(4), .withdraw(0), .cancel, .signal(0),
        ]
        return [
            Program(before: [observer(0)], [[.cancel], use]),
            Program(before: [.cancel], [[observer(0)], use]),
            Program(before: [.observe(0, inside: [observer(1)])], [[.cancel], use]),
        ]
    }()
}
