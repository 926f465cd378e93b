import RaceLab
import SharedSuite

extension Exercise {
    static let findTheBug = Exercise(
        12, "Find the bug", chapter: 9, adapter: "Promise", "BugHunt",
        hints: [
            "Draw a line around each piece of code that runs under the lock. Between two such pieces "
                + "anybody may do anything.",
            "For each piece: what does the code after it believe because of what was seen in it? "
                + "Could another thread have made that untrue?",
            "Three beliefs are in play: that the promise is pending, that somebody is calling "
                + "handlers, that the list is empty. And one property may stand outside of the lock.",
            "When you suspect a gap between two pieces, send another thread through it: let it settle, "
                + "or observe, and end. Then go on with the first.",
        ],
        afterword:
            "Any interleaving is accepted that breaks the promise as it came, and any class that "
            + "survives all of them. The smallest mending makes one piece of two: look and act under "
            + "the same lock. Compare: promise-lab exercise 12 --variant … brings the next one.",
        forbidden: SourceRules.sentAway + SourceRules.finishedThing,
        requirements: [
            report,
            .catalogue("H01", asking: "Who calls a handler that comes after the outcome?"),
            .catalogue("H04", asking: "What does the second call of `resolve` find, and do?"),
            .catalogue("H06", asking: "Which promise hears of an error that a function throws?"),
            .catalogue("H08", asking: "Who calls a handler that another handler has registered?"),
            .catalogue("H09", asking: "In which order does the list hold the handlers?"),
            .catalogue("H13", asking: "Who still holds the handler, once it has been called?"),
            .isHeardThoughDropped("E12.3"),
            .usesItsOwnPromise("E12.4"),
            .registersInside("E12.5"),
            .hundreds("E12.6"),
            .anyValue("E12.7"),
        ]
            + ["R01", "R02", "R03", "R04", "R05", "R06", "R07", "R08"].map {
                .catalogue(
                    $0,
                    asking:
                        "Is this the gap that you have reported, or one that the mending has torn "
                        + "open?")
            }
            + ["R09", "R10"].map {
                .catalogue($0, asking: "Which lock is held while somebody else's code is running?")
            }
            + [
                .goesOnMeanwhile("E12.8"), .lateHandlerWaits("E12.9"), .farewellWaits("E12.10"),
                .anyValueMeets("E12.11"), .noStrangersWait("E12.2"),
            ])

    private static let report = Requirement(
        id: "E12.1", name: "the report",
        story:
            "The promise as it came is to fall to the hazard that you name, in the interleaving that "
            + "you give.",
        question: "Whose decision is out of date in your interleaving, and since which step?"
    ) { answer in
        let answer = answer as! any BugHuntAnswer
        guard let race = Catalogue.races.first(where: { $0.id == answer.hazard.uppercased() })
        else {
            return .oneThread {
                let ids = Catalogue.races.prefix(10).map(\.id).joined(separator: ", ")
                throw Fault(
                    "no report",
                    "'\(answer.hazard)' is no hazard of several threads: those of a promise are \(ids)"
                )
            }
        }
        return .scheduled(
            Scheduled(
                schedule: answer.schedule, race: race,
                scenario: race.scenario(onType: answer.suspect), wanted: nil,
                countsDataRaces: true))
    }
}
