import Dispatch
import PromiseOperators
import RaceLab
import SharedSuite

/// Runs programs on an answer to one of the exercises 8 to 10.
final class OperatorSubject<Value: Sendable>: Subject {
    typealias Model = OperatorModel

    private final class Begun: @unchecked Sendable {
        let call: OperatorModel.Call
        let receiver = Receiver()
        let attempts = Scenario.Log<OperatorModel.Attempt>()
        /// The calls of the other two functions that `withRetries` receives. Their notes tell
        /// whether a lock is held.
        let asked = Scenario.Log<Int>()
        var promise: AnyObject?
        /// Captured by everything that `withRetries` receives.
        weak var captured: Captured?

        init(_ call: OperatorModel.Call) {
            self.call = call
        }

        var isPending: Bool { receiver.received.isEmpty }

        var usesClock: Bool {
            switch call {
            case .limit, .retry: true
            default: false
            }
        }

        /// Whether the last attempt is over, and what the work has captured is alive.
        var keepsWork: Bool {
            guard case .retry = call, !isPending else { return false }
            return captured != nil
        }
    }

    private let answer: AnyObject
    private let conversion: Conversion<Value>
    private let clock = ManualClock()
    private let semaphore = DispatchSemaphore(value: 0)
    private var promises: [(promise: AWPromise<Value>, resolver: Resolver<Value>?)]
    private var calls: [Begun] = []
    private var settled: Set<Int> = []

    /// - Parameters:
    ///   - count: how many promises there are.
    ///   - neverSettled: whether nothing settles them, not even the end of a resolver.
    init(
        _ answer: AnyObject, _ conversion: Conversion<Value>, promises count: Int,
        neverSettled: Bool = false
    ) {
        self.answer = answer
        self.conversion = conversion
        promises = (0..<count).map { _ in
            guard neverSettled else { return AWPromise<Value>.pending() }
            let source = AWPromise.fulfilled(conversion.make(1))
            return (source.then(on: DroppingDispatcher()) { $0 }, nil)
        }
    }

    // MARK: Operations

    func perform(_ operation: OperatorModel.Operation) {
        switch operation {
        case .call(let call, let inside): begin(Begun(call), inside)
        case .settle(let promise, let settling):
            settled.insert(promise)
            promises[promise].resolver?.settle(settling.outcome(conversion))
        case .drop(let promise): promises[promise] = AWPromise<Value>.pending()
        case .advance(let duration): clock.advance(by: duration)
        case .signal: semaphore.signal()
        case .wait: semaphore.wait()
        default: break
        }
    }

    private func begin(_ begun: Begun, _ inside: [OperatorModel.Operation]) {
        calls.append(begun)
        let list = begun.call.promises.map { promises[$0].promise }
        let number = conversion.number
        let work = { for operation in inside { self.perform(operation) } }
        if case .all = begun.call {
            let aggregate = (answer as! any AllAnswer).together(list)
            begun.promise = aggregate
            begun.receiver.observe(
                aggregate, { "\($0.map(number))" }, error: conversion.textOfError, then: work)
        } else {
            let outcome = outcome(of: begun, list)
            begun.promise = outcome
            begun.receiver.observe(
                outcome, { "\(number($0))" }, error: conversion.textOfError, then: work)
        }
    }

    private func outcome(of begun: Begun, _ list: [AWPromise<Value>]) -> AWPromise<Value> {
        switch begun.call {
        case .limit(_, let limit): (answer as! any RaceAnswer).inTime(list[0], limit, clock)
        case .retry(let retries): retry(retries, begun)
        default: (answer as! any RaceAnswer).first(of: list)
        }
    }

    private func retry(_ retries: OperatorModel.Retries, _ begun: Begun) -> AWPromise<Value> {
        let (captured, clock, conversion) = (Captured(), clock, conversion)
        begun.captured = captured
        let (promises, surplus) = (promises, AWPromise<Value>.pending())
        return (answer as! any RetryAnswer).again(
            retries.attempts, clock,
            delay: { number in
                begun.asked.append(number, "delay(\(number))")
                return withExtendedLifetime(captured) { retries.delay(after: number) }
            },
            while: { error in
                begun.asked.append(0, "isWorthwhile(\(error))")
                return withExtendedLifetime(captured) {
                    "\(error)" != "\(Settling.error(Settling.hopeless))"
                }
            }
        ) { number in
            begun.attempts.append(
                OperatorModel.Attempt(number: number, time: clock.now), "attempt \(number) begins")
            guard retries.works.indices.contains(number - 1) else {
                // No further attempt may begin.
                return withExtendedLifetime(surplus.resolver) { surplus.promise }
            }
            switch retries.works[number - 1] {
            case .promise(let promise):
                return withExtendedLifetime(captured) { promises[promise].promise }
            case .failure(let error): throw conversion.error(settling: error)
            }
        }
    }

    // MARK: What can be seen

    var seen: OperatorModel.Seen {
        OperatorModel.Seen(
            received: calls.map(\.receiver.received), attempts: calls.map(\.attempts.entries),
            left: left)
    }

    private var left: Fault? {
        let pending = calls.filter(\.isPending)
        let useClock = calls.contains(where: \.usesClock)
        if useClock, !pending.contains(where: \.usesClock), clock.waiting > 0 {
            return Fault(
                "left behind",
                "the outcome is settled, and a call is still scheduled on the clock")
        }
        if calls.contains(where: \.keepsWork) {
            return Fault(
                "kept alive",
                "the last attempt is over, and the objects that the work has captured are still "
                    + "alive")
        }
        let used = Set(pending.flatMap(\.call.promises))
        let loser = promises.indices.first {
            !used.contains($0) && HandlerOfAnAnswer.count(on: promises[$0].promise) > 0
        }
        return loser.map {
            Fault(
                "left behind",
                "the outcome is settled, and \(Settling.name($0)) still has a handler to call")
        }
    }

    var states: [(title: String, value: () -> String)] {
        let outcome = { self.calls.first?.receiver.received.first ?? "pending" }
        let alarms = { "\(self.clock.waiting)" }
        return answer is any AllAnswer
            ? [("outcome", outcome)] : [("outcome", outcome), ("alarms", alarms)]
    }

    /// Releases the outcomes, and the promises that are settled or can never be settled.
    func letGo() -> Fault? {
        guard answer is any RaceAnswer else { return nil }
        let isLoser = { !self.settled.contains($0) && self.promises[$0].resolver != nil }
        let over = promises.indices.filter { !isLoser($0) }
        let outcomes = calls.filter { !$0.isPending || over.count == promises.count }
        let freed =
            outcomes.compactMap(\.promise).map { (Weak(object: $0), "the outcome") }
            + over.map { (Weak(object: promises[$0].promise), "a promise of the race") }
        promises = promises.indices.filter(isLoser).map { promises[$0] }
        calls = []
        return freed.first { $0.0.object != nil }.map {
            Fault("kept alive", "the program has released \($0.1), which is still alive")
        }
    }
}
