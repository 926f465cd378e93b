import PromiseOperators

/// The operators of exercises 8 to 10, as plain sequential code: what a program calls, and what the
/// settlements of promises and the clock bring about then.
struct OperatorModel: SequentialModel {
    indirect enum Operation: Hashable, Sendable {
        /// The observer of the outcome does more.
        case call(Call, inside: [Operation] = [])
        case settle(Int, Settling)
        /// The program keeps a settled promise no longer.
        case drop(Int)
        case advance(Duration)
        case signal
        case wait

        // These follow from the others. The first number is that of the call.
        case watch(Int, promise: Int)
        case receive(Int, Settling)
        case schedule(Int, after: Duration)
        case alarm(Int)
        case attempt(Int)
        case end(Int, String)
        case passTime(until: Duration)
    }

    /// A call of an operator. Promises have numbers.
    enum Call: Hashable, Sendable {
        case all([Int])
        case winner([Int])
        case limit(Int, Duration)
        case retry(Retries)

        var promises: [Int] {
            switch self {
            case .all(let list), .winner(let list): list
            case .limit(let promise, _): [promise]
            case .retry(let retries):
                retries.works.compactMap {
                    if case .promise(let promise) = $0 { promise } else { nil }
                }
            }
        }
    }

    struct Retries: Hashable, Sendable {
        enum Work: Hashable, Sendable {
            /// The attempt returns this promise.
            case promise(Int)
            /// It throws the error with this number.
            case failure(Int)
        }

        let attempts: Int
        let works: [Work]
        /// After each attempt; zero if there are no more.
        let delays: [Duration]

        func delay(after number: Int) -> Duration {
            delays.indices.contains(number - 1) ? delays[number - 1] : .zero
        }
    }

    /// The beginning of an attempt.
    struct Attempt: Hashable, Sendable, CustomStringConvertible {
        let number: Int
        let time: Duration

        var description: String { "\(number) at \(time)" }
    }

    private struct Begun: Hashable {
        let call: Call
        let inside: [Operation]
        var watched: Set<Int> = []
        var alarm: Duration?
        var attempts: [Attempt] = []
        var received: [String] = []
    }

    private var now = Duration.zero
    private var settled: [Int: Settling] = [:]
    private var calls: [Begun] = []
    private var signals = 0

    struct Seen: Hashable {
        /// What the observer of each outcome has received.
        var received: [[String]]
        var attempts: [[Attempt]]
        /// What should have been cleaned up.
        var left: Fault?
    }

    var seen: Seen { Seen(received: calls.map(\.received), attempts: calls.map(\.attempts)) }

    func after(_ operation: Operation) -> [Following<Self>] {
        var next = self
        var following: [Operation] = []
        switch operation {
        case .call(let call, let inside):
            next.calls.append(Begun(call: call, inside: inside))
            following = first(of: call)
        case .settle(let promise, let settling):
            guard settled[promise] == nil else { break }
            next.settled[promise] = settling
            following = calls.indices.filter { calls[$0].watched.contains(promise) }
                .map { .receive($0, settling) }
        case .drop: break
        case .advance(let duration): following = [.passTime(until: now + duration)]
        case .signal: next.signals += 1
        case .wait:
            guard signals > 0 else { return [] }
            next.signals -= 1
        case .watch(let call, let promise):
            next.calls[call].watched.insert(promise)
            if let settling = settled[promise] { following = [.receive(call, settling)] }
        case .receive(let call, let settling): following = reaction(of: call, to: settling)
        case .schedule(let call, let delay):
            guard calls[call].received.isEmpty else { break }
            next.calls[call].alarm = now + delay
            // Without a delay, the clock need not be used.
            if delay <= .zero {
                return [Following(model: next), Following(model: self, next: [.alarm(call)])]
            }
        case .alarm(let call):
            if case .retry = calls[call].call {
                following = [.attempt(call)]
            } else {
                following = [.end(call, "rejected \(OperatorError.timedOut)")]
            }
        case .attempt(let call):
            guard case .retry(let retries) = calls[call].call else { break }
            let number = calls[call].attempts.count + 1
            next.calls[call].attempts.append(Attempt(number: number, time: now))
            next.calls[call].watched = []
            switch retries.works[number - 1] {
            case .promise(let promise): following = [.watch(call, promise: promise)]
            case .failure(let error): following = [.receive(call, .reject(error))]
            }
        case .end(let call, let received):
            guard calls[call].received.isEmpty else { break }
            next.calls[call].received = [received]
            next.calls[call].alarm = nil
            following = calls[call].inside
        case .passTime(let end):
            let alarms = calls.indices.compactMap { call in calls[call].alarm.map { (call, $0) } }
            if let (call, time) = alarms.min(by: { $0.1 < $1.1 }), time <= end {
                next.now = max(now, time)
                next.calls[call].alarm = nil
                following = [.alarm(call), operation]
            } else {
                next.now = max(now, end)
            }
        }
        return [Following(model: next, next: following)]
    }

    private func first(of call: Call) -> [Operation] {
        let number = calls.count
        let watches = call.promises.map { Operation.watch(number, promise: $0) }
        return switch call {
        case .all([]): [.end(number, "fulfilled []")]
        case .winner([]): [.end(number, "rejected \(OperatorError.noPromises)")]
        case .all, .winner: watches
        case .limit(_, let limit): watches + [.schedule(number, after: limit)]
        case .retry: [.attempt(number)]
        }
    }

    private func reaction(of call: Int, to settling: Settling) -> [Operation] {
        let end = Operation.end(call, settling.received)
        guard case .fulfill = settling else {
            if case .retry(let retries) = calls[call].call {
                let number = calls[call].attempts.count
                return number < retries.attempts && settling != .reject(Settling.hopeless)
                    ? [.schedule(call, after: retries.delay(after: number))] : [end]
            }
            return [end]
        }
        guard case .all(let list) = calls[call].call else { return [end] }
        let values = list.compactMap { promise in
            if case .fulfill(let value) = settled[promise] { value } else { nil }
        }
        return values.count < list.count ? [] : [.end(call, "fulfilled \(values)")]
    }

    // MARK: What is wrong

    static func fault(
        _ seen: Seen, insteadOf expected: Seen, end: (seen: Seen, expected: Seen)
    ) -> Fault {
        let outcome = Receiver.fault(seen.received, insteadOf: expected.received)
        let attempts = seen.attempts.indices.lazy.compactMap {
            fault(
                seen.attempts[$0], insteadOf: expected.attempts[$0],
                surplus: end.seen.attempts[$0].count - end.expected.attempts[$0].count)
        }.first
        if let outcome, outcome.reason == "abandoned" { return outcome }
        if let attempts { return attempts }
        // An attempt after the last one tells more than the missing outcome.
        let surplus = zip(end.seen.attempts, end.expected.attempts).first { $0.count > $1.count }
        if let (all, wanted) = surplus, outcome?.reason == "not settled",
            !expected.received.joined().contains(Settling.reject(Settling.hopeless).received)
        {
            return Fault("too many", "the attempts are \(all) in the end; they should be \(wanted)")
        }
        return outcome ?? seen.left ?? Fault("wrong value", "\(seen)")
    }

    /// - Parameter surplus: how many more attempts there are in the end than there should be.
    private static func fault(
        _ seen: [Attempt], insteadOf expected: [Attempt], surplus: Int
    ) -> Fault? {
        guard seen != expected else { return nil }
        let numbers = seen.map(\.number)
        let reason =
            if Set(numbers).count < numbers.count {
                "twice"
            } else if numbers != Array(1..<numbers.count + 1) {
                "wrong number"
            } else if seen.count > expected.count {
                surplus > 0 ? "too many" : "too early"
            } else if let (own, other) = zip(seen, expected).first(where: { $0 != $1 }) {
                own.time < other.time ? "too early" : "too late"
            } else {
                surplus < 0 ? "too few" : "too late"
            }
        return Fault(reason, "the attempts are \(seen); they should be \(expected)")
    }
}

// MARK: The text

extension OperatorModel.Operation: CustomStringConvertible {
    var description: String {
        switch self {
        case .call(let call, let inside):
            inside.isEmpty
                ? "\(call)"
                : "\(call) with an observer: {\(inside.map(\.description).joined(separator: "; "))}"
        case .settle(let promise, let settling): "\(Settling.name(promise)).\(settling)"
        case .drop(let promise): "\(Settling.name(promise)) is dropped"
        case .advance(let duration): "the clock advances by \(duration)"
        case .signal: "signal"
        case .wait: "wait"
        default: ""
        }
    }
}

extension OperatorModel.Call: CustomStringConvertible {
    var description: String {
        switch self {
        case .all(let list): "whenAll(\(Settling.names(list)))"
        case .winner(let list): "winner(\(Settling.names(list)))"
        case .limit(let promise, let limit): "withTimeout(\(Settling.name(promise)), \(limit))"
        case .retry(let retries):
            "withRetries(\(retries.attempts), delays: \(retries.delays), work: \(retries.works))"
        }
    }
}

extension OperatorModel.Retries.Work: CustomStringConvertible {
    var description: String {
        switch self {
        case .promise(let promise): "return \(Settling.name(promise))"
        case .failure(let number): "throw \(Settling.error(number))"
        }
    }
}
