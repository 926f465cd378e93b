extension Exercise {
    static let lockIt = Exercise(
        number: 5, title: "Lock it", chapter: 5, adapters: promise,
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
        forbidden: Forbidden.sentAway + Forbidden.finishedThing + Forbidden.mainQueue,
        requirements: PromiseChecks(rules: PromiseRules(), freesHandlers: false)
            .requirements(5, threads: true) { PromisePrograms.inSequence() })
}
