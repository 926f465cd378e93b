import SharedSuite

extension Exercise {
    static let keepBothHandlers = Exercise(
        2, "Keep both handlers", chapter: 3, adapter: "Promise", "ThePromise",
        hints: [
            "How many functions can be waiting for one promise, and how many does a slot hold? "
                + "Look at both slots: what is kept in the second one besides what `error` is "
                + "given?",
            "A place that holds any number of functions will do for the value. For errors, draw "
                + "the chain: which functions have to be called when the first promise is "
                + "rejected, and who has registered each of them?",
            "The link to the next promise and a function given to `error` are of the same type, "
                + "and who of them comes first is decided by who registered first. Should they be "
                + "kept in two places, or in one?",
            "Then look at the moment of settling. Somebody registers while the waiting functions "
                + "are being called. What does `then` find in `result`, and who is going to call "
                + "him?",
        ],
        afterword:
            "Two lists in place of two slots are enough. One list of functions that take the "
            + "whole outcome is less: a link and a handler for errors then stand in the order in "
            + "which they came, and there is only one place to forget somebody in. Stage 2 does "
            + "that. A third way keeps the slots, and puts into them a function that calls "
            + "whoever was there before, and then the newcomer: a list all the same, made of "
            + "closures.",
        forbidden: SourceRules.sentAway + SourceRules.finishedThing,
        requirements: [
            .catalogue("H01", asking: "Who calls a handler that comes after the outcome?"),
            .catalogue("H06", asking: "Which promise hears of an error that a function throws?"),
            .catalogue("H14", asking: "Who holds whom, and does that go round in a circle?"),
            .catalogue("H16", asking: "What does each link of the chain hand on to the next?"),
            .catalogue(
                "H17", asking: "How does an error get from one promise of a chain to the next?"),
            .catalogue("H02", asking: "Where does the second `then` put its handler?"),
            .catalogue(
                "H03", asking: "What did `then` keep for the case of an error, and where is it now?"
            ),
            .catalogue(
                "H09",
                asking: "In which order do the waiting handlers come off the place where they are "
                    + "kept? And who is called when somebody comes late?"),
            .isHeardThoughDropped("E02.5"),
            .oneThread(
                "E02.1", "`then`s and `error`s, mixed",
                "Several `then`s, with `error` at the end of each chain, and several `error`s are "
                    + "registered on one promise in turns. When it is rejected, all have to hear "
                    + "of it.",
                asking: "Write down what each of the calls adds, and what it takes away.",
                with: (any PromiseAnswer).self
            ) { try rejectMixture($0.promise).requireAll() },
            .oneThread(
                "E02.2", "in the order of the calls",
                "The same once more. Whoever was registered first has to hear of it first, "
                    + "wherever in a chain.",
                asking:
                    "Of two functions that wait for an error, where is it kept which was first?",
                with: (any PromiseAnswer).self
            ) { try rejectMixture($0.promise).requireOrder() },
            .oneThread(
                "E02.3", "fulfilled, with several values",
                "Three promises are fulfilled, with 4, 0 and -7. Two handlers hear the value, and "
                    + "the chains behind them what the handlers have made of it. Nobody hears of "
                    + "an error.",
                asking: "Which value does each handler get, and what becomes of what it returns?",
                with: (any PromiseAnswer).self
            ) { answer in
                for value in [4, 0, -7] { try fulfilMixture(answer.promise, value) }
            },
            .oneThread(
                "E02.4", "registering inside a handler",
                "A handler registers another one on the same promise, with `then` or with `error`. "
                    + "That one has to be called as well, and nobody twice.",
                asking:
                    "At that moment, is the promise settled? Who looks after what is registered "
                    + "now?",
                with: (any PromiseAnswer).self
            ) { answer in
                try registerInsideThen(answer.promise)
                try registerInsideError(answer.promise)
            },
            .hundreds("E02.6"),
            .anyValue("E02.7"),
        ])
}

/// Who has heard of a rejection, and who should have.
private struct Hearing {
    var heard: [String]
    let expected: [String]

    func requireAll() throws {
        try SharedSuite.requireOrder(heard.sorted(), expected.sorted())
    }

    func requireOrder() throws {
        try SharedSuite.requireOrder(heard, expected)
    }
}

private func rejectMixture<P: PromiseUnderTest>(_ promise: P.Type) -> Hearing {
    var heard: [String] = []
    let (promise, _, reject) = P.pending()
    promise.ending { heard.append("first error \($0)") }
    promise.mapping { $0 }.ending { heard.append("first chain \($0)") }
    promise.mapping { $0 }.mapping { $0 }.ending { heard.append("second chain \($0)") }
    promise.ending { heard.append("second error \($0)") }
    promise.mapping { $0 }.ending { heard.append("third chain \($0)") }
    reject(Sent("no"))
    return Hearing(
        heard: heard,
        expected: ["first error", "first chain", "second chain", "second error", "third chain"]
            .map { "\($0) 'no'" })
}

private func fulfilMixture<P: PromiseUnderTest>(_ promise: P.Type, _ value: Int) throws {
    var heard: [String] = []
    let (promise, resolve, _) = P.pending()
    let note = { (who: String) in
        { (value: Int) -> Int in
            heard.append("\(who) \(value)")
            return value * 10
        }
    }
    let complain = { (error: any Error) in heard.append("\(error)") }
    promise.mapping(note("first")).mapping(note("behind the first")).ending(complain)
    promise.ending(complain)
    promise.mapping(note("second")).mapping(note("behind the second")).ending(complain)
    resolve(value)
    promise.mapping(note("late")).ending(complain)
    promise.ending(complain)
    let expected = [
        "first \(value)", "behind the first \(value * 10)", "second \(value)",
        "behind the second \(value * 10)", "late \(value)",
    ]
    let strangers = heard.filter { !expected.contains($0) }
    try require(strangers.isEmpty, or: .wrongValue, "with \(value), heard: \(strangers)")
    try requireOrder(heard.sorted(), expected.sorted())
}

private func registerInsideThen<P: PromiseUnderTest>(_ promise: P.Type) throws {
    var heard: [String] = []
    let (promise, resolve, _) = P.pending()
    let note = { (who: String) in
        { (value: Int) -> Int in
            heard.append(who)
            return value
        }
    }
    promise.mapping {
        promise.mapping(note("inner"))
        return note("outer")($0)
    }
    promise.mapping(note("another"))
    resolve(3)
    try requireOrder(heard.sorted(), ["another", "inner", "outer"])
}

private func registerInsideError<P: PromiseUnderTest>(_ promise: P.Type) throws {
    var heard: [String] = []
    let (promise, _, reject) = P.pending()
    promise.ending { _ in
        promise.ending { _ in heard.append("inner") }
        heard.append("outer")
    }
    promise.ending { _ in heard.append("another") }
    reject(Sent("no"))
    try requireOrder(heard.sorted(), ["another", "inner", "outer"])
}
