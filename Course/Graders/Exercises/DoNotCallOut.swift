extension Exercise {
    static let doNotCallOut = Exercise(
        number: 6, title: "Do not call out under the lock", chapter: 5, adapters: promise,
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
        forbidden: Forbidden.sentAway + Forbidden.finishedThing + Forbidden.mainQueue,
        requirements: PromiseChecks(rules: PromiseRules(), callsOutside: true)
            .requirements(6, threads: true) { PromisePrograms.inSequence() })
}
