extension Exercise {
    static let flatten = Exercise(
        number: 4, title: "Flatten", chapter: 3,
        adapters: promise + ["Flattening"],
        hints: [
            "There are three promises: the one on which `then` is called, the one that it "
                + "returns, and the one that the function returns. When is each of them created, "
                + "and what settles it?",
            "The other `then` settles the next promise with what the function returns. Here "
                + "that is not a value yet. Which promise will have the outcome, and how can "
                + "your code receive it?",
            "List the ways in which it can end: the source promise is rejected, the "
                + "function throws, the inner promise is fulfilled, the inner promise is "
                + "rejected. Does each of them settle the next promise?",
            "Two promises are the same object if `===` says so. You can compare them only "
                + "after the function has returned; which of them must exist by then?",
        ],
        afterword:
            "The next promise can observe the inner one like any other handler, with the "
            + "complete outcome, as Stage 2 does; or it can use `then` and `error`, as code "
            + "outside the class would. Since a promise settles once, several paths to it do "
            + "no harm. Stage 3 has this in `continueWith`. Row R12 is its race.",
        forbidden: Forbidden.sentAway + Forbidden.finishedThing,
        requirements: PromiseChecks(rules: PromiseRules()).requirements(4) {
            PromisePrograms.returningPromises() + PromisePrograms.inSequence()
        })
}
