extension Exercise {
    static let allOfThem = Exercise(
        number: 8, title: "All of them", chapter: 8, adapters: ["All", "MainQueue"],
        hints: [
            "Settling the aggregate twice is harmless: a promise settles once, and `settle` "
                + "ignores a second call. So an error can be passed on without a check, and one "
                + "question is left: which thread supplies the last value?",
            "Two threads supply the last two values. If each thread writes its value and "
                + "then checks whether all are there, which interleavings are possible, and what "
                + "does each thread see? Writing and checking must be one step.",
            "You do not have to collect the values at all. When all promises are fulfilled, "
                + "where are their values, in which order, and since when?",
            "An observer runs once for each place of its promise in the list. So count "
                + "places, not promises. And what happens when there are no places at all?",
        ],
        afterword:
            "An atomic counter, a Mutex around the array of values, a chain from one "
            + "promise to the next with a shortcut for errors, even a scan of the whole list "
            + "at every value: all of them are correct, because the promise that you return "
            + "settles only once. PromiseOperators counts, and then reads the results of the "
            + "promises: All.swift.",
        forbidden: Forbidden.sentAway + Forbidden.finished("all", "allSettled", "follow"),
        requirements: [
            .programs(
                "E08.1", "one thread, small programs",
                "`whenAll` is called before, between and after the calls that settle its promises, "
                    + "with lists of up to five, also with the same promise in several places, or "
                    + "with two lists, and an observer of the aggregate settles promises or calls "
                    + "`whenAll`. After each call, each aggregate is pending, or was settled once "
                    + "with the outcome that the task asks for.",
                asking:
                    "A value arrives. How does your code know the place of its promise in the list?"
            ) { .inSequence(OperatorPrograms.all, watched: 80, withNumbers($0)) },
            .otherValues("E08.2", .all([0]), .all([0, 1]), .all([])),
            .unwatched(
                "E08.3", "a thousand promises",
                "The aggregate waits for \(Bounds.squared) promises, which are fulfilled from the "
                    + "first, from the last, or before the call. One of them is rejected, or two are "
                    + "rejected before the call. Or the list has half as many promises, each of them "
                    + "twice. As many aggregates wait for one promise.",
                asking: "How far can your code count?", with: AnyObject.self
            ) { answer in
                for program in OperatorPrograms.manyOfAll {
                    try program.runUnwatched(withNumbers(answer)(program))
                }
            },
            .programs(
                "E08.4", "two and three threads, small programs",
                "Two or three threads settle promises and call `whenAll`. In every interleaving, "
                    + "each aggregate is settled once, with an outcome that the calls could have one "
                    + "after another.",
                asking:
                    "What does the later thread assume about the earlier one? Which two of your "
                    + "steps must be one?"
            ) { .inThreads(OperatorPrograms.allInThreads, withNumbers($0)) },
            .independence(
                "E08.5", of: "lists", "Two threads wait for their own list, and settle it.",
                [
                    .call(.all([0, 1])), .settle(0, .fulfill(1)), .settle(1, .fulfill(2)),
                    .settle(2, .reject(3)), .call(.all([0, 2])), .call(.all([])),
                    .call(.all([3, 4])), .settle(3, .reject(1)), .settle(4, .reject(2)),
                ]),
        ])
}
