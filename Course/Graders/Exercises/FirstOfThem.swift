import PromiseOperators

extension Exercise {
    static let firstOfThem = Exercise(
        number: 9, title: "The first of them", chapter: 8, adapters: ["Race", "MainQueue"],
        hints: [
            "You do not have to find out which promise is first: all of them may try to "
                + "settle the same promise, and the first call counts. `settle` is made for "
                + "callers that may come second.",
            "A timeout is a race, too, between the promise and an alarm. Either may win, "
                + "and either leaves something to clean up when it loses.",
            "What has to be cleaned up exists only after it has been set up, and by then "
                + "the race may be over. What can report that a race is over, to early and late "
                + "callers?",
            "One object is settled exactly when the race is over, and calls its observers, "
                + "early or late. How many observers may it have?",
        ],
        afterword:
            "The shortest solution observes the outcome once for each contestant, and "
            + "withdraws there: a promise calls late observers, too. A list of cleanup "
            + "functions behind a lock, together with a flag for the end, does the same by "
            + "hand. A box that holds the resolver, shared by all handlers and emptied by the "
            + "winner, keeps nothing of the race alive; its handlers must still be "
            + "withdrawn. PromiseOperators uses the first: Follow.swift.",
        forbidden: Forbidden.sentAway
            + Forbidden.finished("race", "timeout", "follow", "cancelled")
            + Forbidden.finished("CancellationSource", "CancellationToken")
            + Forbidden.clockOfTheTests,
        requirements: [
            .programs(
                "E09.1", "one thread: winner",
                "`winner` is called before, between and after the calls that settle its promises, "
                    + "also with the same promise in several places, twice, or with an empty list, "
                    + "and an observer of the outcome settles other promises or calls `winner`. "
                    + "After each call, each outcome is pending, or was settled once as the task "
                    + "asks; then no promise that has lost has a handler left, and none keeps the "
                    + "outcome or the winner alive."
            ) { .inSequence(OperatorPrograms.races, watched: 80, withNumbers($0)) },
            .programs(
                "E09.2", "one thread: withTimeout",
                "A promise settles before the call, a nanosecond before its time is up, or later; "
                    + "the limits are from zero to thousands of years, or below zero. An "
                    + "observer of the outcome advances the clock and settles the promise. When the "
                    + "outcome is settled, no alarm is left on the clock, and no handler on the "
                    + "promise."
            ) { .inSequence(OperatorPrograms.limits, watched: 80, withNumbers($0)) },
            .otherValues("E09.3", .winner([0]), .limit(0, .seconds(1))),
            .unwatched(
                "E09.4", "thousands of promises",
                "Of \(Bounds.many) promises, the last one in the list wins. None of the others has "
                    + "a handler left.",
                asking: "Which of your lines limits how many there can be?",
                with: AnyObject.self
            ) { try lastOfMany.runUnwatched(withNumbers($0)(lastOfMany)) },
            .programs(
                "E09.5", "no cycle remains",
                "No promise of a race ever settles, and nothing can settle it any more. When the "
                    + "last reference to all of them is released, they must be freed, and so must "
                    + "the outcome."
            ) { (answer: AnyObject) in
                .inSequence(OperatorPrograms.neverSettled, watched: 0) {
                    OperatorSubject(answer, .numbers, promises: $0.promises, neverSettled: true)
                }
            },
            .programs(
                "E09.6", "two and three threads, small programs",
                "Two or three threads call `winner` and `withTimeout`, settle promises, and advance "
                    + "the clock. In every interleaving, each outcome is settled once, as if the "
                    + "calls had been made one after another, and leaves no alarm and no handler "
                    + "behind."
            ) { .inThreads(OperatorPrograms.racesInThreads, withNumbers($0)) },
            .independence(
                "E09.7", of: "races",
                "Two threads each run their own race, and set a limit on their own clock.",
                [
                    .call(.winner([0, 1])), .call(.limit(2, .seconds(1))),
                    .call(.limit(3, .seconds(1))), .call(.limit(4, .seconds(1))),
                    .settle(0, .fulfill(1)), .settle(1, .reject(2)), .settle(3, .fulfill(1)),
                    .settle(4, .reject(1)), .advance(.seconds(1)), .call(.winner([])),
                ]),
        ])

    /// The last of very many promises wins.
    private static let lastOfMany = SmallProgram<OperatorModel>([
        .call(.winner(Array(0..<Bounds.many))), .settle(Bounds.many - 1, .fulfill(1)),
    ])
}
