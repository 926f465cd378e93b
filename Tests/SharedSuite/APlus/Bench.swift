/// When a promise is settled: the specification requires the same result in each case.
enum When: String, CaseIterable {
    case already = "settled before"
    case atOnce = "settled at once"
    /// After the code that registers the handlers has returned.
    case later = "settled later"
}

/// The outcome.
enum Ending: String, CaseIterable {
    case fulfilled
    case rejected
}

/// A pending promise, and the two functions that settle it.
struct Pending<P: PromiseUnderTest> {
    let promise: P
    let resolve: P.Resolve
    let reject: P.Reject

    init() {
        (promise, resolve, reject) = P.pending()
    }

    func settle(_ ending: Ending, _ value: Int = 1) {
        switch ending {
        case .fulfilled: resolve(value)
        case .rejected: reject(Sent("no"))
        }
    }
}

/// Runs one case, turn by turn, and records the calls.
///
/// A turn is a piece of work on a serial queue. On Stage 3, its handlers are called in later turns
/// on the same queue, so nothing here depends on time, or on the number of processors.
final class Bench<P: PromiseUnderTest> {
    private(set) var heard: [String] = []

    /// The number of user functions on the stack.
    private var depth = 0
    /// The handlers that were called while a user function was on the stack.
    private(set) var calledTooEarly: [String] = []

    // MARK: Turns

    func turn<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
        try QueuedPromise.queue.sync { try userCode(body) }
    }

    /// Each link of a chain takes at most two turns, and no chain here has more than ten links.
    func letOthersHaveTheirTurns() {
        for _ in 1...30 { QueuedPromise.queue.sync {} }
    }

    /// Makes a promise, registers with it in `use`, and settles it: before, in the same turn, or in
    /// a later one.
    func run(
        _ when: When, settle: (Pending<P>) -> Void, _ use: (Pending<P>) -> Void
    ) {
        let pending = turn { Pending<P>() }
        switch when {
        case .already:
            turn {
                settle(pending)
                use(pending)
            }
        case .atOnce:
            turn {
                use(pending)
                settle(pending)
            }
        case .later:
            turn { use(pending) }
            letOthersHaveTheirTurns()
            turn { settle(pending) }
        }
        letOthersHaveTheirTurns()
    }

    func run(
        _ when: When, _ ending: Ending = .fulfilled, _ value: Int = 1,
        _ use: (Pending<P>) -> Void
    ) {
        run(when, settle: { $0.settle(ending, value) }, use)
    }

    // MARK: Recording

    func hear(_ text: String) {
        heard.append(text)
        if depth > 0 { calledTooEarly.append(text) }
    }

    /// Runs a function of the user.
    func userCode<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
        depth += 1
        defer { depth -= 1 }
        return try body()
    }

    /// Registers handlers for the value and for the error, the latter at the end of the chain.
    func listen(_ promise: P, _ who: String = "") {
        promise.mapping { value in
            self.hear(who + "value \(value)")
            return value
        }
        .ending { self.hear(who + "error \($0)") }
    }

    /// Registers a handler for one of the two, on the promise itself.
    func register(_ promise: P, _ ending: Ending, _ handler: @escaping () throws -> Void) {
        switch ending {
        case .fulfilled:
            promise.mapping { value in
                try handler()
                return value
            }
        case .rejected:
            promise.ending { _ in try? handler() }
        }
    }

    /// Checks that each of these was received, once, in this order, and nothing else.
    func expect(_ expected: [String], or reason: Reason) throws {
        let said = heard.isEmpty ? "nothing" : heard.joined(separator: ", ")
        let wanted = expected.isEmpty ? "nothing" : expected.joined(separator: ", ")
        try require(heard == expected, or: reason, "received \(said) instead of \(wanted)")
    }

    func expect(_ expected: String, or reason: Reason) throws {
        try expect([expected], or: reason)
    }
}
