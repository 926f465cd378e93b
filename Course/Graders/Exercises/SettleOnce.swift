import SharedSuite

extension Exercise {
    static let settleOnce = Exercise(
        3, "Settle once", chapter: 3, adapter: "Promise", "ThePromise",
        hints: [
            "Both `resolve` and `reject` call one function. What must that function check "
                + "before it does anything?",
            "A handler may do anything with the promise that calls it: settle it again, "
                + "read its result, register others. What should it find in each case, and when "
                + "must that be stored?",
            "A handler is registered while handlers are being called. It may not be called "
                + "now, and it may not be lost. How does `observe` learn that this is such a "
                + "moment, and which line calls the handler later? And a handler that *that* "
                + "handler registers?",
            "Finally, check the list: can a function be added to it and stay there?",
        ],
        afterword:
            "Stage 2 has a flag that is set while handlers are being called, and calls them "
            + "in rounds until a round is empty. It works without the flag, too: if each "
            + "handler leaves the list only after it was called, then a settled promise with "
            + "a handler on its list is one that is calling handlers. Exercise 7 returns to "
            + "this moment, with two threads.",
        forbidden: SourceRules.sentAway + SourceRules.finishedThing,
        requirements: [
            .catalogue(
                "H01",
                asking:
                    "Which line calls a handler that is registered after the promise has settled?"),
            .catalogue("H02", asking: "Is every handler on the list called?"),
            .catalogue("H03", asking: "What do a chain and an error handler have in common?"),
            .catalogue("H06", asking: "Which promise receives the error that a function throws?"),
            .catalogue(
                "H09",
                asking:
                    "Which handler is called first when the promise settles? And which line "
                    + "calls handlers that are registered after that?"),
            .catalogue("H14", asking: "Which object references which, and is there a cycle?"),
            .catalogue("H16", asking: "What does each link of the chain pass on to the next?"),
            .catalogue(
                "H04", asking: "What does the second call of `resolve` find, and what does it do?"),
            .catalogue("H05", asking: "What does `reject` find when the promise is fulfilled?"),
            .oneThread(
                "E03.1", "the first call decides",
                "Four promises are each settled three times: fulfilled or rejected first, "
                    + "and then differently. The first call decides, for early and late handlers.",
                asking: "Make a table: the first call, the current call. In which of its fields "
                    + "may anything change?",
                with: (any PromiseAnswer).self
            ) { try settleInEveryWay($0.promise) },
            .isHeardThoughDropped("E03.5"),
            .oneThread(
                "E03.2", "settling inside a handler",
                "A handler settles the promise again, with another value and with an error, "
                    + "and reads its result. Both calls are ignored, and the result is the first "
                    + "value.",
                asking: "When the first handler runs, what has already been stored?",
                with: (any PromiseAnswer).self
            ) { try settleInside($0.promise) },
            .catalogue(
                "H08",
                asking: "The third handler is registered while the first is running. Where is the "
                    + "second at that time?"),
            .registersInside("E03.3"),
            .hundreds("E03.6"),
            .anyValue("E03.7"),
            .catalogue("H13", asking: "What still holds the handler after it has been called?"),
            .oneThread(
                "E03.4", "no handler stays on the list",
                "Handlers for a value and for an error, early, late, or registered inside "
                    + "another one, have each captured an object. In the end, all of these "
                    + "objects are freed.",
                asking: "Which kind of handler is never called at all, and where is it then?",
                with: (any PromiseAnswer).self
            ) { answer in
                try releaseAll(answer.promise, rejecting: false)
                try releaseAll(answer.promise, rejecting: true)
            },
            .staysUsable("E03.8"),
        ])
}

extension Requirement {
    static func registersInside(_ id: String) -> Requirement {
        .oneThread(
            id, "registering inside a handler, nested",
            "A handler settles the promise again and registers two others, one of these two "
                + "more, and one of those another; and of twelve, each registers the next. For "
                + "an error, every second one is at the end of a chain. Each is called once, in "
                + "the order of registration, after the one before it has returned.",
            asking: "After which handler do you check the list for the last time?",
            with: (any PromiseAnswer).self
        ) { answer in
            for rejecting in [false, true] {
                try nest(answer.promise, rejecting: rejecting)
                for length in [1, 2, 12] {
                    try chain(answer.promise, length, rejecting: rejecting)
                }
            }
        }
    }
}

private func settleInEveryWay<P: PromiseUnderTest>(_ promise: P.Type) throws {
    let attempts: [[Result<Int, Sent>]] = [
        [.success(7), .failure(Sent("late")), .success(8)],
        [.failure(Sent("first")), .success(9), .failure(Sent("late"))],
        [.success(0), .success(5), .success(0)],
        [.failure(Sent("no")), .failure(Sent("late")), .success(1)],
    ]
    for outcomes in attempts {
        var heard: [String] = []
        let (promise, resolve, reject) = P.pending()
        let listen = { (who: String) in
            promise.mapping {
                heard.append("\(who) \($0)")
                return $0
            }
            .ending { heard.append("\(who) \($0)") }
        }
        listen("early")
        for outcome in outcomes {
            switch outcome {
            case .success(let value): resolve(value)
            case .failure(let error): reject(error)
            }
        }
        listen("late")
        let first = text(outcomes[0])
        let done = "with \(outcomes.map(text).joined(separator: ", then "))"
        let detail = "\(done), received: \(heard.joined(separator: ", "))"
        try require(!heard.isEmpty, or: .lost, detail)
        try require(heard.first == "early \(first)", or: .wrongValue, detail)
        try require(heard == ["early \(first)", "late \(first)"], or: .settledTwice, detail)
        try require(
            promise.outcome.map { text($0) } == first, or: .disagrees,
            "\(done), the result differs")
    }
}

private func text(_ outcome: Result<Int, some Error>) -> String {
    switch outcome {
    case .success(let value): "\(value)"
    case .failure(let error): "\(error)"
    }
}

private func settleInside<P: PromiseUnderTest>(_ promise: P.Type) throws {
    var heard: [String] = []
    var seen: [String] = []
    let (promise, resolve, reject) = P.pending()
    promise.mapping {
        heard.append("first \($0)")
        seen.append(promise.outcome.map { text($0) } ?? "pending")
        if heard.count < 9 {
            resolve($0 + 1)
            reject(Sent("inside"))
        }
        return $0
    }
    .ending { heard.append("error \($0)") }
    promise.mapping {
        heard.append("second \($0)")
        return $0
    }
    promise.ending { heard.append("error \($0)") }
    resolve(6)
    try require(
        heard == ["first 6", "second 6"], or: .settledTwice,
        "received: \(heard.joined(separator: ", "))")
    try require(seen == ["6"], or: .disagrees, "inside the handler, the result was \(seen)")
    try require(
        promise.outcome.map { text($0) } == "6", or: .settledTwice,
        "the result differs from the value that the handlers received")
}

/// Handlers that register others on their promise. Each has its number, in the order of registration.
private final class Nest<P: PromiseUnderTest> {
    private let pending = P.pending()
    private let isRejected: Bool
    private var (registered, heard, running): ([String], [String], [String]) = ([], [], [])
    private var tooEarly: String?

    init(rejecting isRejected: Bool) {
        self.isRejected = isRejected
    }

    func register(_ work: @escaping () -> Void = {}) {
        let who = "\(registered.count + 1)"
        registered.append(who)
        let handler = { self.run(who, work) }
        if !isRejected {
            pending.promise.mapping { value in
                handler()
                return value
            }
        } else if registered.count % 2 == 0 {
            // An error has to wait for its turn in a chain, too.
            pending.promise.mapping { $0 }.ending { _ in handler() }
        } else {
            pending.promise.ending { _ in handler() }
        }
    }

    private func run(_ who: String, _ work: () -> Void) {
        if let other = running.last { tooEarly = "\(who) ran inside \(other)" }
        heard.append(who)
        running.append(who)
        work()
        running.removeLast()
    }

    func settle(_ value: Int) {
        if isRejected { pending.reject(Sent("no")) } else { pending.resolve(value) }
    }

    func settleOtherwise() {
        pending.resolve(7)
        pending.reject(Sent("inside"))
    }

    /// Must be checked before another handler is registered, which could cause lost handlers to be
    /// called.
    func requireOrder() throws {
        try SharedSuite.requireOrder(heard, registered)
        try require(tooEarly == nil, or: .tooEarly, tooEarly ?? "")
    }
}

private func nest<P: PromiseUnderTest>(_ promise: P.Type, rejecting: Bool) throws {
    let nest = Nest<P>(rejecting: rejecting)
    nest.register {
        // These calls change nothing, even while handlers are being called.
        nest.settleOtherwise()
        nest.register { nest.register() }
        nest.register {
            nest.register { nest.register() }
            nest.register()
        }
    }
    nest.register { nest.register() }
    nest.settle(2)
    try nest.requireOrder()
    nest.register()
    try nest.requireOrder()
}

/// Each handler registers the next one while it is the last on the list.
private func chain<P: PromiseUnderTest>(_ promise: P.Type, _ length: Int, rejecting: Bool) throws {
    let nest = Nest<P>(rejecting: rejecting)
    func register(_ left: Int) {
        nest.register { if left > 1 { register(left - 1) } }
    }
    nest.register()
    register(length)
    nest.settle(3)
    try nest.requireOrder()
    nest.register()
    try nest.requireOrder()
}

private func releaseAll<P: PromiseUnderTest>(_ promise: P.Type, rejecting: Bool) throws {
    let (promise, resolve, reject) = P.pending()
    var living: [(who: String, isAlive: () -> Bool)] = []
    func capture(_ who: String) -> Captured {
        let object = Captured()
        living.append((who, { [weak object] in object != nil }))
        return object
    }
    func register(_ who: String) {
        let (first, second) = (capture("\(who) `then`"), capture("\(who) `error`"))
        promise.mapping { value in withExtendedLifetime(first) { value } }
        promise.ending { _ in withExtendedLifetime(second) {} }
    }
    register("an early")
    promise.mapping { value in
        register("an inner")
        return value
    }
    promise.ending { _ in register("an inner") }
    if rejecting { reject(Sent("no")) } else { resolve(2) }
    register("a late")
    let kept = living.filter { $0.isAlive() }.map(\.who)
    withExtendedLifetime(promise) {}
    try require(
        kept.isEmpty, or: .keptAlive,
        "\(rejecting ? "rejected" : "fulfilled"), it still holds what was passed to "
            + kept.joined(separator: ", "))
}
