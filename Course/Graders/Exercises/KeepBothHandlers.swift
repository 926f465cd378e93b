extension Exercise {
    static let keepBothHandlers = Exercise(
        number: 2, title: "Keep both handlers", chapter: 3, adapters: promise,
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
        forbidden: Forbidden.sentAway + Forbidden.finishedThing,
        requirements: PromiseChecks(
            rules: PromiseRules(chainsInTurn: true), freesHandlers: false
        ).requirements(2) { PromisePrograms.inSequence(settlingOnce: true) })
}
