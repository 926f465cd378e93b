import Dispatch
import RaceLab
import SharedSuite

// Shared by exercises 2 to 7 and 12: a call that has no effect, or a function that throws, leaves
// the promise as usable as before.

extension Requirement {
    /// - Parameter settlingAgain: whether the promise is also settled again. Exercise 2 does not
    ///   require that a promise settles once.
    static func staysUsable(_ id: String, settlingAgain: Bool = true) -> Requirement {
        staysUsable(
            id,
            after: "is not called, or throws"
                + (settlingAgain ? ", or a call that settles the promise again" : "")
        ) { answer, rejecting in
            try misuse(answer.promise, rejecting: rejecting, settlingAgain: settlingAgain)
        }
    }

    /// The same for `then` with a function that returns a promise.
    static func staysUsableWhenFlattening(_ id: String) -> Requirement {
        staysUsable(
            id,
            after: "is not called, throws, or returns a promise that is rejected, or a call that "
                + "settles the promise again"
        ) { answer, rejecting in
            try misuse(answer.promise, rejecting: rejecting, settlingAgain: true)
            try misuseFlattening(answer.flatteningPromise, rejecting: rejecting)
        }
    }

    /// - Parameter calls: what the function of the call does, or what else the call may be.
    private static func staysUsable(
        _ id: String, after calls: String,
        _ misuse: @escaping @Sendable (any PromiseAnswer, _ rejecting: Bool) throws -> Void
    ) -> Requirement {
        .oneThread(
            id, "usable after every call",
            "On a promise that is fulfilled, and on one that is rejected, a call is made whose "
                + "function \(calls): early, inside a handler, and late. After each, `then` and "
                + "`error` work as before.",
            asking:
                "Which paths lead through the functions of the class if the function is not "
                + "called, or throws? What has each of them changed when it returns?",
            with: (any PromiseAnswer).self
        ) { answer in
            for rejecting in [false, true] { try misuse(answer, rejecting) }
        }
    }

    /// For the exercises with a lock.
    static func staysFree(_ id: String) -> Requirement {
        .scenario(
            id, "usable from another thread",
            "One thread settles two promises, one with a value and one with an error. On each of "
                + "them, it then calls `then` and `error`, with functions that are not called, or "
                + "throw, and settles the promise again. After that, another thread uses both "
                + "promises, and its handlers are called.",
            asking: "Which path through your functions takes the lock, and returns without "
                + "releasing it?",
            with: (any PromiseAnswer).self
        ) { describeUseAfterwards($0, $1.promise) }
    }
}

/// A call that a promise must survive.
private struct Use<P: PromiseUnderTest> {
    let name: String
    let make: (_ promise: P, _ resolve: P.Resolve, _ reject: P.Reject) -> Void

    init(_ name: String, _ make: @escaping (P, P.Resolve, P.Reject) -> Void) {
        self.name = name
        self.make = make
    }

    static var registering: [Use] {
        [
            Use("`error`") { promise, _, _ in promise.ending { _ in } },
            Use("`then`") { promise, _, _ in promise.mapping { $0 } },
            Use("a `then` whose function throws") { promise, _, _ in
                promise.mapping { _ in throw Sent("thrown") }.ending { _ in }
            },
        ]
    }

    static var settling: [Use] {
        [
            Use("a second `resolve`") { _, resolve, _ in resolve(9) },
            Use("a second `reject`") { _, _, reject in reject(Sent("late")) },
        ]
    }
}

extension Use where P: FlatteningPromise {
    fileprivate static var flattening: [Use] {
        [
            Use("a flattening `then`") { promise, _, _ in
                promise.flatMapping { value in P.working { resolve, _ in resolve(value) } }
            },
            Use("a flattening `then` whose function throws") { promise, _, _ in
                promise.flatMapping { _ in throw Sent("thrown") }.ending { _ in }
            },
            Use("a flattening `then` whose function returns a rejected promise") {
                promise, _, _ in
                promise.flatMapping { _ in P.working { _, reject in reject(Sent("inner")) } }
                    .ending { _ in }
            },
        ]
    }
}

private func misuse<P: PromiseUnderTest>(
    _ promise: P.Type, rejecting: Bool, settlingAgain: Bool
) throws {
    // Registering a handler of the other kind comes first, so that a failure names its cause.
    let registering = Use<P>.registering
    for call in rejecting ? registering.reversed() : registering {
        try misuse(call, rejecting: rejecting, isEarly: true)
    }
    guard settlingAgain else { return }
    for call in Use<P>.settling { try misuse(call, rejecting: rejecting, isEarly: false) }
}

private func misuseFlattening<P: FlatteningPromise>(_ promise: P.Type, rejecting: Bool) throws {
    for call in Use<P>.flattening { try misuse(call, rejecting: rejecting, isEarly: true) }
}

private func misuse<P: PromiseUnderTest>(
    _ call: Use<P>, rejecting: Bool, isEarly: Bool
) throws {
    let (promise, resolve, reject) = P.pending()
    let make = { call.make(promise, resolve, reject) }
    let state = rejecting ? "rejected" : "fulfilled"
    if isEarly { make() }
    if rejecting {
        promise.ending { _ in make() }
    } else {
        promise.mapping { value in
            make()
            return value
        }
    }
    if rejecting { reject(Sent("no")) } else { resolve(3) }
    try expectUsable(promise, rejecting, "\(state) after \(call.name)")
    for _ in 1...2 {
        make()
        try expectUsable(promise, rejecting, "\(state), and then \(call.name)")
    }
}

/// Registers handlers of both kinds on a settled promise.
private func expectUsable<P: PromiseUnderTest>(
    _ promise: P, _ isRejected: Bool, _ circumstances: String
) throws {
    var heard: [String] = []
    promise.mapping {
        heard.append("value \($0)")
        return $0 + 1
    }
    .mapping {
        heard.append("chain \($0)")
        return $0
    }
    .ending { heard.append("chain \($0)") }
    promise.ending { heard.append("error \($0)") }
    let expected = isRejected ? ["chain 'no'", "error 'no'"] : ["value 3", "chain 4"]
    let received = heard.isEmpty ? "nothing" : heard.joined(separator: ", ")
    let detail = "\(circumstances): new handlers received \(received)"
    try require(Set(heard).isSuperset(of: expected), or: .lost, detail)
    try require(heard.count == expected.count, or: .twice, detail)
    try require(heard == expected, or: .outOfOrder, detail)
    switch promise.outcome {
    case .success(3) where !isRejected, .failure(Sent("no") as Sent) where isRejected: break
    default: try require(false, or: .disagrees, "\(circumstances): the result differs")
    }
}

private func describeUseAfterwards<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
    let (fulfilled, rejected) = (P.pending(), P.pending())
    let log = Scenario.Log<Call>()
    let used = DispatchSemaphore(value: 0)
    scenario.thread("first") {
        fulfilled.resolve(3)
        rejected.reject(Sent("no"))
        for (promise, resolve, reject) in [fulfilled, rejected] {
            for call in Use<P>.registering + Use.settling { call.make(promise, resolve, reject) }
        }
        used.signal()
    }
    scenario.thread("second") {
        used.wait()
        for (promise, resolve, reject) in [fulfilled, rejected] {
            _ = promise.outcome
            resolve(4)
            reject(Sent("later"))
            promise.listen("handler", log)
            promise.ending { log.append(Call(who: "error handler", what: "\($0)")) }
        }
    }
    scenario.check {
        try log.requireOnce("handler", "error handler")
        try require(log.entries.map(\.what) == ["3", "'no'"], or: .settledTwice)
    }
    scenario.show(fulfilled.promise)
}
