import SharedSuite

extension Exercise {
    static let lockIt = Exercise(
        5, "Lock it", chapter: 5, adapter: "Promise", "ThePromise",
        hints: [
            "Which properties does more than one thread touch? Whatever guards one of them has to "
                + "guard them all, in every function, reading included.",
            "Between looking at `outcome` and appending to `handlers` there must be no moment at "
                + "which somebody else settles the promise. Is that one locked piece, or two?",
            "`observe` decides under the lock whether the handler waits. What it decided can leave "
                + "the lock as a value, and be acted upon outside.",
            "A lock that all promises share is safe, and makes strangers wait for each other. "
                + "Whose property should it be?",
        ],
        afterword:
            "A Mutex around the state, an NSLock beside it, a private queue with `sync`: all of them "
            + "make each look-and-act one step, and that is all that is asked for here. Stage 3 "
            + "keeps the state inside of the Mutex, so that the compiler does not let anybody reach "
            + "it without.",
        forbidden: SourceRules.sentAway + SourceRules.finishedThing,
        requirements: [
            .catalogue("H01", asking: "Who calls a handler that comes after the outcome?"),
            .catalogue("H04", asking: "What does the second call of `resolve` find, and do?"),
            .catalogue("H05", asking: "What does `reject` find when the promise is fulfilled?"),
            .catalogue("H06", asking: "Which promise hears of an error that a function throws?"),
            .catalogue("H09", asking: "In which order does the list hold the handlers?"),
            .isHeardThoughDropped("E05.2"),
            .oneThread(
                "E05.3", "a handler that looks",
                "A handler looks at the `result` of its own promise: early and late, of a value and "
                    + "of an error. It finds what it was told.",
                asking:
                    "What does the thread hold while the handler runs, and does it want that again?",
                with: (any PromiseAnswer).self
            ) { answer in
                try lookInside(answer.promise, rejecting: false)
                try lookInside(answer.promise, rejecting: true)
            },
            .hundreds("E05.4"),
            .anyValue("E05.5"),
            .catalogue(
                "R01",
                asking: "At the marked step, what does the one thread believe about the promise "
                    + "that the other has made untrue?"),
            .catalogue(
                "R02",
                asking: "Both threads have asked whether the promise is settled. Who could still "
                    + "say no after the first of them was told?"),
            .catalogue(
                "R03",
                asking: "Two threads settle, each in its own way. Where is it decided which one "
                    + "comes first?"),
            .catalogue(
                "R04",
                asking:
                    "Both threads append to the same list. What is to keep the second out while "
                    + "the first is in the middle of it?"),
            .catalogue(
                "R05",
                asking:
                    "Follow the handler that goes wrong: who holds it, after which step, and who "
                    + "still knows of it?"),
            .catalogue(
                "R07",
                asking: "Between the two registrations the promise may settle. Does either of them "
                    + "depend on what the other has seen?"),
            .catalogue(
                "R08",
                asking: "Somebody only reads. What does a reader see if nothing keeps the writer "
                    + "out, and is `result` among the places that you have guarded?"),
            .anyValueMeets("E05.6"),
            .independence(
                "E05.1", "two promises, two threads",
                "One thread settles a promise, and another one a second promise that has nothing to "
                    + "do with the first. Neither should ever have to wait for the other.",
                asking: "How many locks are there when there are a thousand promises?",
                with: (any PromiseAnswer).self,
                first: { liveOn($0.promise, 1) }, second: { liveOn($0.promise, 2) }),
        ])
}

private func lookInside<P: PromiseUnderTest>(_ promise: P.Type, rejecting: Bool) throws {
    let (promise, resolve, reject) = P.pending()
    let outcome = rejecting ? "'no'" : "5"
    for who in ["an early handler", "a late handler"] {
        var seen: [String] = []
        let look = {
            switch promise.outcome {
            case nil: seen.append("nothing")
            case .success(let value): seen.append("\(value)")
            case .failure(let error): seen.append("\(error)")
            }
        }
        promise.mapping {
            look()
            return $0
        }
        promise.ending { _ in look() }
        if rejecting { reject(Sent("no")) } else { resolve(5) }
        try require(!seen.isEmpty, or: .lost, "\(who) was never called")
        try require(
            seen == [outcome], or: .disagrees,
            "\(who) was told \(outcome), and finds \(seen.joined(separator: ", "))")
    }
}
