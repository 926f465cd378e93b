import SharedSuite

extension Exercise {
    static let lockIt = Exercise(
        5, "Lock it", chapter: 5, adapter: "Promise", "ThePromise",
        hints: [
            "Which properties do several threads access? The lock that protects one of them "
                + "must protect them all, in every function, and for reading as well.",
            "Between the check of `outcome` and the append to `handlers`, no other thread "
                + "may settle the promise. Is that one critical section, or two?",
            "`observe` decides under the lock whether the handler waits. That decision can "
                + "leave the lock as a value, and be carried out outside.",
            "One lock for all promises is safe, but threads with unrelated promises then "
                + "wait for each other. Which object should own the lock?",
        ],
        afterword:
            "A Mutex around the state, an NSLock next to it, a private queue with `sync`: "
            + "all of them turn each check and its action into one step, which is all that "
            + "this exercise asks for. Stage 3 keeps the state inside the Mutex, so that the "
            + "compiler allows no access without the lock.",
        forbidden: SourceRules.sentAway + SourceRules.finishedThing,
        requirements: [
            .catalogue(
                "H01",
                asking:
                    "Which line calls a handler that is registered after the promise has settled?"),
            .catalogue(
                "H04", asking: "What does the second call of `resolve` find, and what does it do?"),
            .catalogue("H05", asking: "What does `reject` find when the promise is fulfilled?"),
            .catalogue("H06", asking: "Which promise receives the error that a function throws?"),
            .catalogue("H09", asking: "In which order does the list hold the handlers?"),
            .isHeardThoughDropped("E05.2"),
            .usesItsOwnPromise("E05.3"),
            .hundreds("E05.4"),
            .anyValue("E05.5"),
            .staysUsable("E05.8"),
            .catalogue(
                "R01",
                asking: "At the marked step, what does the one thread assume about the promise "
                    + "that the other has made untrue?"),
            .catalogue(
                "R02",
                asking: "Both threads have asked whether the promise is settled. What could still "
                    + "stop the second thread after its check?"),
            .catalogue(
                "R03",
                asking: "Two threads settle the promise, one with a value and one with an error. "
                    + "Where is it decided which one is first?"),
            .catalogue(
                "R04",
                asking:
                    "Both threads append to the same list. What keeps the second out while "
                    + "the first modifies it?"),
            .catalogue(
                "R05",
                asking:
                    "Follow the handler that goes wrong: what holds it, after which step, "
                    + "and which thread still knows of it?"),
            .catalogue(
                "R07",
                asking: "Between the two registrations the promise may settle. Does either of them "
                    + "depend on what the other has seen?"),
            .catalogue(
                "R08",
                asking: "This thread only reads. What does a reader see if nothing keeps the "
                    + "writer out, and do you protect `result`, too?"),
            .settledAgain("E05.7"),
            .staysFree("E05.9"),
            .anyValueMeets("E05.6"),
            .independence(
                "E05.1", "two promises, two threads",
                "One thread settles a promise, and another thread settles a second, "
                    + "unrelated promise. Neither may ever wait for the other.",
                asking: "How many locks are there for a thousand promises?",
                with: (any PromiseAnswer).self,
                first: { liveOn($0.promise, 1) }, second: { liveOn($0.promise, 2) }),
        ])
}
