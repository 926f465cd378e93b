import SharedSuite

extension Exercise {
    static let doNotCallOut = Exercise(
        6, "Do not call out under the lock", chapter: 5, adapter: "Promise", "ThePromise",
        hints: [
            "Underline each place at which code runs that you have not written. There are "
                + "two kinds: functions that are called, and a `deinit` that runs because an "
                + "object is freed.",
            "Under the lock you decide which handlers are called, and with what. Which of "
                + "that is still needed under the lock after the decision?",
            "A decision can leave the lock as a value: a list, an outcome, or nothing. Two "
                + "functions of the class make decisions. What must each of them return?",
            "After you have released the lock, other threads may run. What must they find, "
                + "so that none of them settles the promise again or appends to a list that has "
                + "been taken?",
        ],
        afterword:
            "The lock is held for a decision, and the decision leaves it as a value: copied "
            + "out between `lock` and `unlock`, or returned by `withLock`, by the `sync` of a "
            + "queue, or by a method of the state. Stage 3 returns it from `withLock`; so its "
            + "Mutex does not have to be recursive. Even less is enough: once the outcome is "
            + "set, no thread adds to the list, so the list belongs to the thread that has "
            + "settled the promise.",
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
            .catalogue("H13", asking: "What still holds the handler after it has been called?"),
            .isHeardThoughDropped("E06.6"),
            .usesItsOwnPromise("E06.1"),
            .hundreds("E06.7"),
            .anyValue("E06.8"),
            .staysUsable("E06.11"),
            .catalogue(
                "R01",
                asking:
                    "Releasing the lock has separated two steps that were one. Which?"
            ),
            .catalogue(
                "R02",
                asking:
                    "Both threads want to settle the promise. What does the second find if "
                    + "it comes while the first is calling handlers?"),
            .catalogue(
                "R03",
                asking: "Two threads settle the promise, one with a value and one with an error. "
                    + "Where is it decided which one is first, and when is that stored?"),
            .catalogue(
                "R04", asking: "Both threads append to the same list. What keeps them apart?"),
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
                "R08", asking: "This thread only reads. What keeps the writer out meanwhile?"),
            .catalogue(
                "R09",
                asking: "The handler waits for the other thread. What does the other thread wait "
                    + "for, and which thread holds it?"),
            .catalogue(
                "R10",
                asking: "Draw an arrow from each thread to what it waits for, and from that to the "
                    + "thread that holds it. Is there a cycle?"),
            .settledAgain("E06.10"),
            .staysFree("E06.12"),
            // Comes before the next one, in which a thread registers a late handler, too.
            .lateHandlerWaits("E06.3"),
            .goesOnMeanwhile("E06.2"),
            .everyHandlerWaits("E06.13"),
            .farewellWaits("E06.4"),
            .anyValueMeets("E06.9"),
            .noStrangersWait("E06.5"),
        ])
}
