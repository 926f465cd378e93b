extension Exercise {
    static let settleOnce = Exercise(
        number: 3, title: "Settle once", chapter: 3, adapters: promise,
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
        forbidden: Forbidden.sentAway + Forbidden.finishedThing,
        requirements: PromiseChecks(
            rules: PromiseRules(takesTurns: true, chainsInTurn: true)
        ).requirements(3) { PromisePrograms.inSequence() })
}
