import SharedSuite

extension Exercise {
    static let keepBothHandlers = Exercise(
        2, "Keep both handlers", chapter: 3, adapter: "Promise", "ThePromise",
        hints: [
            "How many functions can wait for one promise, and how many does a slot hold? "
                + "Look at both slots: what does the second one hold in addition to the function "
                + "passed to `error`?",
            "For values, a container with any number of functions is enough. For errors, "
                + "draw the chain: which functions must be called when the first promise is "
                + "rejected, and which call has registered each of them?",
            "The link to the next promise and a function passed to `error` have the same "
                + "type, and the order of registration decides which is called first. Should they "
                + "be stored in two places, or in one?",
            "Then look at the moment of settling. A handler is registered while the waiting "
                + "handlers are being called. What does `then` find in `result`, and which line "
                + "calls the new handler?",
        ],
        afterword:
            "Two lists in place of two slots are enough. One list of functions that receive "
            + "the complete outcome is simpler: links and error handlers are then in the "
            + "order of registration, and there is only one place in which a handler can be "
            + "lost. Stage 2 does that. A third solution keeps the slots, and stores in them "
            + "a function that calls the previous function and then the new one: also a list, "
            + "made of closures.",
        forbidden: SourceRules.sentAway + SourceRules.finishedThing,
        requirements: [
            .catalogue(
                "H01",
                asking:
                    "Which line calls a handler that is registered after the promise has settled?"),
            .catalogue("H06", asking: "Which promise receives the error that a function throws?"),
            .catalogue("H14", asking: "Which object references which, and is there a cycle?"),
            .catalogue("H16", asking: "What does each link of the chain pass on to the next?"),
            .catalogue(
                "H17", asking: "How does an error reach the next promise of a chain?"),
            .catalogue("H02", asking: "Where does the second `then` put its handler?"),
            .catalogue(
                "H03", asking: "What did `then` keep for the case of an error, and where is it now?"
            ),
            .catalogue(
                "H09",
                asking: "In which order are the waiting handlers taken from their container? And "
                    + "when is a late handler called?"),
            .isHeardThoughDropped("E02.5"),
            .oneThread(
                "E02.1", "`then`s and `error`s, mixed",
                "Several `then`s, with `error` at the end of each chain, and several "
                    + "`error`s are registered on one promise in turns. When it is rejected, all "
                    + "error handlers must receive the error.",
                asking: "Write down what each of the calls adds, and what it removes.",
                with: (any PromiseAnswer).self
            ) { try rejectMixture($0.promise).requireAll() },
            .oneThread(
                "E02.2", "in the order of the calls",
                "The same scenario. The handler that was registered first must be called "
                    + "first, wherever it is in a chain.",
                asking:
                    "Of two functions that wait for an error, where is it stored which one "
                    + "was first?",
                with: (any PromiseAnswer).self
            ) { try rejectMixture($0.promise).requireOrder() },
            .oneThread(
                "E02.3", "fulfilled, with several values",
                "Three promises are fulfilled, with 4, 0 and -7. Three handlers receive the "
                    + "value, and the second one throws. The chain after each receives, in its "
                    + "turn, what the handler returns or throws. No other error handler is called.",
                asking:
                    "Which value does each handler receive, and where does its return value go? "
                    + "And its error?",
                with: (any PromiseAnswer).self
            ) { answer in
                for value in [4, 0, -7] { try fulfilMixture(answer.promise, value) }
            },
            .oneThread(
                "E02.4", "registering inside a handler",
                "A handler registers another one on the same promise, with `then` or with "
                    + "`error`. That one must be called as well, and none twice.",
                asking:
                    "At that moment, is the promise settled? Which line calls a handler "
                    + "that is registered now?",
                with: (any PromiseAnswer).self
            ) { answer in
                try registerInsideThen(answer.promise)
                try registerInsideError(answer.promise)
            },
            .hundreds("E02.6"),
            .anyValue("E02.7"),
            .staysUsable("E02.8", settlingAgain: false),
        ])
}

/// The calls of error handlers, and the expected ones.
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
    promise.mapping(note("first")).mapping(note("after the first")).ending(complain)
    promise.mapping { throw Sent("\($0)") }.ending { heard.append("after the throw \($0)") }
    promise.ending(complain)
    promise.mapping(note("second")).mapping(note("after the second")).ending(complain)
    resolve(value)
    promise.mapping(note("late")).ending(complain)
    promise.ending(complain)
    let expected = [
        "first \(value)", "after the first \(value * 10)", "after the throw '\(value)'",
        "second \(value)", "after the second \(value * 10)", "late \(value)",
    ]
    let strangers = heard.filter { !expected.contains($0) }
    try require(strangers.isEmpty, or: .wrongValue, "with \(value), received: \(strangers)")
    try requireOrder(heard, expected)
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
