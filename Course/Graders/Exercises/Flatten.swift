import SharedSuite

extension Exercise {
    static let flatten = Exercise(
        4, "Flatten", chapter: 3, adapter: "Promise", "ThePromise", "FlatteningPromise",
        hints: [
            "There are three promises: the one on which `then` is called, the one that it "
                + "returns, and the one that the function returns. When is each of them created, "
                + "and what settles it?",
            "The other `then` settles the next promise with what the function returns. Here "
                + "that is not a value yet. Which promise will have the outcome, and how can "
                + "your code receive it?",
            "List the ways in which it can end: the source promise is rejected, the "
                + "function throws, the inner promise is fulfilled, the inner promise is "
                + "rejected. Does each of them settle the next promise?",
            "Two promises are the same object if `===` says so. You can compare them only "
                + "after the function has returned; which of them must exist by then?",
        ],
        afterword:
            "The next promise can observe the inner one like any other handler, with the "
            + "complete outcome, as Stage 2 does; or it can use `then` and `error`, as code "
            + "outside the class would. Since a promise settles once, several paths to it do "
            + "no harm. Stage 3 has this in `continueWith`. Row R12 is its race.",
        forbidden: SourceRules.sentAway + SourceRules.finishedThing,
        requirements: [
            .catalogue(
                "H01",
                asking:
                    "Which line calls a handler that is registered after the promise has settled?"),
            .catalogue("H05", asking: "What does `reject` find when the promise is fulfilled?"),
            .catalogue("H06", asking: "Which promise receives the error that a function throws?"),
            .catalogue("H09", asking: "Are all handlers called, in the order of the list?"),
            .catalogue(
                "H07",
                asking: "When the function has returned, what is known of its promise, and what is "
                    + "still to come? How many cases are there?"),
            .oneThread(
                "E04.1", "the inner promise is settled already",
                "The function returns a promise that is already fulfilled or rejected. The "
                    + "chain continues with that outcome, at once.",
                asking: "Which function is on a list that no code will ever read again?",
                with: (any PromiseAnswer).self
            ) { try returnSettled($0.flatteningPromise) },
            .oneThread(
                "E04.2", "both kinds of `then` in a chain",
                "Functions that return values and functions that return promises alternate, "
                    + "three times, with several values. Each is called once, with the result of "
                    + "the one before.",
                asking: "Write down what each function in the chain receives, and how often it is "
                    + "called.",
                with: (any PromiseAnswer).self
            ) { answer in
                for value in [3, 0, -5] { try takeTurns(answer.flatteningPromise, value) }
            },
            .oneThread(
                "E04.3", "an error of the source promise",
                "The source promise is rejected. The function may not be called, and the "
                    + "end of the chain must receive the error once.",
                asking: "Which path does an error take that no handler in the middle handles?",
                with: (any PromiseAnswer).self
            ) { try rejectAbove($0.flatteningPromise) },
            .oneThread(
                "E04.4", "the function throws",
                "The function throws instead of returning a promise. The end of the chain "
                    + "must receive that error once.",
                asking: "If there is no inner promise, what settles the next one?",
                with: (any PromiseAnswer).self
            ) { try throwInside($0.flatteningPromise) },
            .oneThread(
                "E04.5", "settled before `then` is called",
                "The promise on which `then` is called is already settled, with a value or "
                    + "with an error. The chain receives the same as it would otherwise.",
                asking: "What is different when `then` comes late, and which line handles that?",
                with: (any PromiseAnswer).self
            ) { try attachLate($0.flatteningPromise) },
            .oneThread(
                "E04.6", "an inner promise that others use",
                "Two functions return the same pending promise, which has a handler of its "
                    + "own before, and another one after. When it settles, all of them receive "
                    + "its outcome.",
                asking:
                    "Which code owns the list of the inner promise, and what may you do with it?",
                with: (any PromiseAnswer).self
            ) { answer in
                try share(answer.flatteningPromise, rejecting: false)
                try share(answer.flatteningPromise, rejecting: true)
            },
            .oneThread(
                "E04.7", "the function returns the source promise",
                "The function returns the promise on which its `then` was called. That "
                    + "promise is fulfilled by then, so the chain continues with its value.",
                asking: "Of the three promises, which two must not be the same?",
                with: (any PromiseAnswer).self
            ) { try returnTheOneAbove($0.flatteningPromise) },
            .catalogue(
                "H11",
                asking: "What does the next promise wait for, if the function returns it? How can "
                    + "your code find out?"),
            .oneThread(
                "E04.8", "an inner promise that is released",
                "The inner promise never settles, and the last references to it and to the "
                    + "chain are released. All promises must be freed.",
                asking:
                    "The inner promise has to reference the next one. Does the next one "
                    + "have to reference the inner one?",
                with: (any PromiseAnswer).self
            ) { try drop($0.flatteningPromise) },
            .oneThread(
                "E04.9", "each keeps its own outcome",
                "The inner promise is settled twice. The source promise keeps its value, "
                    + "the next one keeps the first outcome of the inner one, and late handlers "
                    + "receive that.",
                asking: "Which of the three promises does your function settle, and how often?",
                with: (any PromiseAnswer).self
            ) { answer in
                try keepOutcomes(answer.flatteningPromise, rejecting: false)
                try keepOutcomes(answer.flatteningPromise, rejecting: true)
            },
            .hundreds("E04.10"),
            .anyValue("E04.11"),
            .staysUsableWhenFlattening("E04.13"),
            .oneThread(
                "E04.12", "a promise of another type",
                "The function receives a number, and returns a promise of a text: pending or "
                    + "settled, with a text or with an error. The chain continues with that "
                    + "outcome.",
                asking: "Which of your lines assumes that both promises have the same type?",
                with: (any PromiseAnswer).self
            ) { answer in
                for rejecting in [false, true] {
                    for isEarly in [false, true] {
                        try convert(
                            answer.flatteningPromise, rejecting: rejecting, isEarly: isEarly)
                    }
                }
            },
        ])
}

extension PromiseUnderTest {
    /// Registers handlers for both outcomes.
    fileprivate func end(_ hear: @escaping (String) -> Void) {
        mapping {
            hear("value \($0)")
            return $0
        }
        .ending { hear("error \($0)") }
    }
}

private func fulfilled<P: PromiseUnderTest>(_ value: Int) -> P {
    P.working { resolve, _ in resolve(value) }
}

private func rejected<P: PromiseUnderTest>(_ error: any Error) -> P {
    P.working { _, reject in reject(error) }
}

/// Checks that exactly this was received.
private func require(_ heard: [String], toBe expected: [String], _ circumstances: String) throws {
    let all = heard.isEmpty ? "nothing" : heard.joined(separator: ", ")
    let said = "\(circumstances), the chain received \(all)"
    try require(heard.count >= expected.count, or: .lost, said)
    try require(heard.count <= expected.count, or: .twice, said)
    try require(heard == expected, or: .wrongValue, said)
}

private func returnSettled<P: FlatteningPromise>(_ promise: P.Type) throws {
    for value in [4, 0, -9] {
        var heard: [String] = []
        let (promise, resolve, _) = P.pending()
        promise.flatMapping { fulfilled($0 + value) }.end { heard.append($0) }
        resolve(10)
        try require(heard, toBe: ["value \(10 + value)"], "with \(10 + value)")
    }
    var heard: [String] = []
    let (promise, resolve, _) = P.pending()
    promise.flatMapping { rejected(Sent("no \($0)")) }.end { heard.append($0) }
    resolve(6)
    try require(heard, toBe: ["error 'no 6'"], "with an error")
}

private func takeTurns<P: FlatteningPromise>(_ promise: P.Type, _ value: Int) throws {
    var heard: [String] = []
    var resolveInner: [P.Resolve] = []
    let hear = { (value: Int) -> Int in
        heard.append("value \(value)")
        return value
    }
    let inner = { (value: Int) -> P in
        _ = hear(value)
        let (inner, resolve, _) = P.pending()
        resolveInner.append { resolve($0 * value) }
        return inner
    }
    let (promise, resolve, _) = P.pending()
    promise.mapping { hear($0) + 1 }.flatMapping(inner).mapping { hear($0) + 1 }.flatMapping(inner)
        .end { heard.append($0) }
    var expected = ["value \(value)", "value \(value + 1)"]
    resolve(value)
    try require(heard, toBe: expected, "with \(value), before the first inner promise is settled")
    let second = 2 * (value + 1)
    resolveInner[0](2)
    expected += ["value \(second)", "value \(second + 1)"]
    try require(heard, toBe: expected, "with \(value), before the second inner promise is settled")
    resolveInner[1](7)
    expected.append("value \(7 * (second + 1))")
    try require(heard, toBe: expected, "with \(value)")
}

private func rejectAbove<P: FlatteningPromise>(_ promise: P.Type) throws {
    var heard: [String] = []
    let (promise, _, reject) = P.pending()
    promise.flatMapping { value -> P in
        heard.append("function \(value)")
        return fulfilled(value)
    }
    .mapping { $0 }.end { heard.append($0) }
    reject(Sent("above"))
    try require(heard, toBe: ["error 'above'"], "rejected from above")
}

private func throwInside<P: FlatteningPromise>(_ promise: P.Type) throws {
    var heard: [String] = []
    let (promise, resolve, _) = P.pending()
    promise.flatMapping { throw Sent("thrown \($0)") }.mapping { $0 }.end { heard.append($0) }
    resolve(8)
    try require(heard, toBe: ["error 'thrown 8'"], "with a function that throws")
}

private func attachLate<P: FlatteningPromise>(_ promise: P.Type) throws {
    var heard: [String] = []
    let early: P = fulfilled(11)
    let (inner, resolveInner, _) = P.pending()
    early.flatMapping { _ in inner }.end { heard.append($0) }
    early.flatMapping { fulfilled($0 + 1) }.end { heard.append($0) }
    try require(heard, toBe: ["value 12"], "fulfilled before")
    resolveInner(13)
    try require(heard, toBe: ["value 12", "value 13"], "fulfilled before")
    let lost: P = rejected(Sent("early"))
    lost.flatMapping { fulfilled($0) }.end { heard.append($0) }
    try require(heard, toBe: ["value 12", "value 13", "error 'early'"], "rejected before")
}

private func share<P: FlatteningPromise>(_ promise: P.Type, rejecting: Bool) throws {
    var heard: [String] = []
    let (first, resolveFirst, _) = P.pending()
    let (second, resolveSecond, _) = P.pending()
    let (inner, resolveInner, rejectInner) = P.pending()
    inner.end { heard.append("before: \($0)") }
    first.flatMapping { _ in inner }.end { heard.append("first: \($0)") }
    second.flatMapping { _ in inner }.end { heard.append("second: \($0)") }
    resolveFirst(1)
    resolveSecond(2)
    inner.end { heard.append("after: \($0)") }
    if rejecting { rejectInner(Sent("no")) } else { resolveInner(5) }
    let outcome = rejecting ? "error 'no'" : "value 5"
    try requireOrder(heard, ["before", "first", "second", "after"].map { "\($0): \(outcome)" })
}

private func returnTheOneAbove<P: FlatteningPromise>(_ promise: P.Type) throws {
    var heard: [String] = []
    let (promise, resolve, _) = P.pending()
    promise.flatMapping { _ in promise }.end { heard.append($0) }
    resolve(14)
    try require(heard, toBe: ["value 14"], "with the source promise")
}

private func convert<P: FlatteningPromise>(
    _ promise: P.Type, rejecting: Bool, isEarly: Bool
) throws {
    var heard: [String] = []
    let (resolve, text) = (promise as! any ConvertingPromise.Type).converting { heard.append($0) }
    let settleText = { rejecting ? text.reject(Sent("no")) : text.resolve("text") }
    if isEarly { settleText() }
    resolve(3)
    if !isEarly { settleText() }
    let when = isEarly ? "that is already settled" : "that is settled later"
    try require(
        heard, toBe: [rejecting ? "error 'no'" : "value text"], "with a promise of a text \(when)")
}

private func keepOutcomes<P: FlatteningPromise>(_ promise: P.Type, rejecting: Bool) throws {
    let (above, resolve, _) = P.pending()
    let (inner, resolveInner, rejectInner) = P.pending()
    let next = above.flatMapping { _ in inner }
    let expect = { (promise: P, expected: String, who: String) in
        var heard: [String] = []
        promise.end { heard.append($0) }
        try require(heard, toBe: [expected], "late, at \(who)")
        let result =
            switch promise.outcome {
            case nil: "pending"
            case .success(let value): "value \(value)"
            case .failure(let error): "error \(error)"
            }
        try require(
            result == expected, or: .disagrees, "\(who) was \(expected); its result is \(result)")
    }
    resolve(10)
    try require(
        next.outcome == nil, or: .tooEarly, "the next promise has a result before the inner one has"
    )
    if rejecting { rejectInner(Sent("no")) } else { resolveInner(3) }
    resolveInner(4)
    rejectInner(Sent("late"))
    let outcome = rejecting ? "error 'no'" : "value 3"
    try expect(above, "value 10", "the source promise")
    try expect(inner, outcome, "the inner promise")
    try expect(next, outcome, "the next promise")
}

private func drop<P: FlatteningPromise>(_ promise: P.Type) throws {
    weak var keptInner: P?
    weak var keptNext: P?
    do {
        let (promise, resolve, _) = P.pending()
        let (inner, resolveInner, _) = P.pending()
        let next = promise.flatMapping { _ in inner }
        next.end { _ in }
        resolve(1)
        (keptInner, keptNext) = (inner, next)
        withExtendedLifetime(resolveInner) {}
    }
    try require(
        keptInner == nil && keptNext == nil, or: .keptAlive,
        "the inner promise and the next one reference each other")
}
