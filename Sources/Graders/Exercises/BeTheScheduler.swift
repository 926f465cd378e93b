import RaceLab
import SharedSuite

extension Exercise {
    static let beTheScheduler = Exercise(
        1, "Be the scheduler", chapter: 4, adapter: "Schedules",
        hints: [
            "Each thread first looks, and then acts on what it saw. The moment between the two is "
                + "where the other one has to come.",
            "For the lost handler: when the subscriber looked, the promise was pending. What has the "
                + "resolver to be done with before the subscriber acts on that?",
            "For the handler called twice: `settle` takes the list in one step and empties it in the "
                + "next one. Who may look at the list in between, and what has that thread to have "
                + "passed before?",
            "Two switches are enough for the first, and for the second as well. Count the steps of one "
                + "thread in a table that you have already seen.",
        ],
        afterword:
            "There are many right answers: every row in which the subscriber's look comes before, and "
            + "its append after, the resolver's last look at the list. promise-lab show R01 --stage 2 "
            + "finds the one with the fewest switches, and says how many of all fail.",
        requirements: [
            .stage2(
                "R01", losing: .lost,
                asking:
                    "Which step of the subscriber believes something that is not true any more? "
                    + "Who made it untrue, and may that come earlier or later in your row?"
            ) { $0.losesAHandler },
            .stage2(
                "R02", losing: .twice,
                asking:
                    "Both threads have to get past the guard, and both have to find the handler in "
                    + "the list. Which step takes the handler out, and who has to look before it?"
            ) { $0.deliversTwice },
        ])
}

extension Requirement {
    /// An interleaving of a race on Stage 2, in which it has to fail for the reason given.
    fileprivate static func stage2(
        _ id: String, losing reason: Reason, asking question: String,
        _ schedule: @escaping @Sendable (any SchedulesAnswer) -> String
    ) -> Requirement {
        guard let race = Catalogue.hazard(id) as? any Race else {
            preconditionFailure("no race \(id)")
        }
        return Requirement(
            id: id, name: "\(race.name): \(reason.rawValue)",
            story: race.story + " Your interleaving is to be one in which \(reason.sentence).",
            question: question
        ) { answer in
            .scheduled(
                Scheduled(
                    schedule: schedule(answer as! any SchedulesAnswer), race: race,
                    scenario: race.scenario(on: .handlers), wanted: reason))
        }
    }
}
