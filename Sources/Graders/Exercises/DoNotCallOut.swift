import SharedSuite

extension Exercise {
    static let doNotCallOut = Exercise(
        6, "Do not call out under the lock", chapter: 5, adapter: "Promise", "ThePromise",
        hints: [
            "Underline each place at which a function runs that you have not written. There are "
                + "two kinds of them: those that are called, and those that run because something "
                + "goes.",
            "Under the lock it is decided who is to be called, and with what. Is anything of that "
                + "still needed under the lock when it is decided?",
            "A decision can leave the lock as a value: a list, an outcome, or nothing. Two "
                + "functions of the class take decisions. What does each of them have to return?",
            "Once you have let go of the lock, others may come. What must they find, so that "
                + "nobody settles a second time and nobody is put onto a list that has been taken?",
        ],
        afterword:
            "The lock is held for a decision, and what was decided leaves it as a value: copied "
            + "out between `lock` and `unlock`, returned by `withLock`, by a queue's `sync`, or "
            + "by a function of the state that says what is to be done. The last is what Stage 3 "
            + "does, and the reason why its Mutex does not have to be a recursive one. One can "
            + "even do with less: once the outcome is there, nobody adds to the list, and it "
            + "belongs to who has settled.",
        forbidden: SourceRules.sentAway + SourceRules.finishedThing,
        requirements: [
            .catalogue("H01", asking: "Who calls a handler that comes after the outcome?"),
            .catalogue("H04", asking: "What does the second call of `resolve` find, and do?"),
            .catalogue("H05", asking: "What does `reject` find when the promise is fulfilled?"),
            .catalogue("H06", asking: "Which promise hears of an error that a function throws?"),
            .catalogue("H09", asking: "In which order does the list hold the handlers?"),
            .catalogue("H13", asking: "Who still holds the handler, once it has been called?"),
            .isHeardThoughDropped("E06.6"),
            .usesItsOwnPromise("E06.1"),
            .hundreds("E06.7"),
            .anyValue("E06.8"),
            .catalogue(
                "R01",
                asking:
                    "Letting go of the lock has made room between two steps that were one. Which?"
            ),
            .catalogue(
                "R02",
                asking:
                    "Both threads want to settle. What does the second find if it comes while the "
                    + "first is calling handlers?"),
            .catalogue(
                "R03",
                asking: "Two threads settle, each in its own way. Where is it decided which one "
                    + "comes first, and when is that written down?"),
            .catalogue(
                "R04", asking: "Both threads append to the same list. What keeps them apart?"),
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
                "R08", asking: "Somebody only reads. What keeps the writer out meanwhile?"),
            .catalogue(
                "R09",
                asking: "The handler waits for the other thread. What is the other thread waiting "
                    + "for, and who has it?"),
            .catalogue(
                "R10",
                asking: "Draw an arrow from each thread to what it waits for, and from that to who "
                    + "holds it. Is there a circle?"),
            .goesOnMeanwhile("E06.2"),
            .lateHandlerWaits("E06.3"),
            .farewellWaits("E06.4"),
            .anyValueMeets("E06.9"),
            .noStrangersWait("E06.5"),
        ])
}
