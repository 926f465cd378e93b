import RaceLab
import SharedSuite

extension Exercise {
    static let beTheScheduler = Exercise(
        number: 1, title: "Be the scheduler", chapter: 4, adapters: ["Schedules"],
        hints: [
            "Each thread first reads, and then acts on what it has read. The other thread "
                + "has to run between these two steps.",
            "For the lost handler: when the subscriber read the state, the promise was "
                + "pending. What must the resolver have finished before the subscriber acts on "
                + "that?",
            "For the handler called twice: `settle` takes the list in one step and empties "
                + "it in the next. Which thread may read the list in between, and which check "
                + "must that thread have passed before?",
            "One preemption is enough for the first interleaving, and two are enough for the "
                + "second. Count the steps of one thread in a table that you have already seen.",
        ],
        afterword:
            "There are many correct answers: every row in which the subscriber's check "
            + "comes before, and its append after, the resolver's last access to the list. "
            + "promise-lab show R01 --stage 2 finds one with the fewest preemptions, and "
            + "counts how many interleavings fail.",
        requirements: [
            .stage2(
                "R01", losing: .lost,
                asking:
                    "Which step of the subscriber relies on something that is no longer "
                    + "true? Which step made it untrue, and may that step come earlier or "
                    + "later in your row?"
            ) { $0.losesAHandler },
            .stage2(
                "R02", losing: .twice,
                asking:
                    "Both threads must pass the guard, and both must find the handler in "
                    + "the list. Which step takes the handler out, and which thread must read "
                    + "the list before that?"
            ) { $0.deliversTwice },
        ])
}

extension Requirement {
    /// An interleaving of a race on Stage 2 that must fail for the given reason.
    fileprivate static func stage2(
        _ id: String, losing reason: Reason, asking question: String,
        _ schedule: @escaping @Sendable (any SchedulesAnswer) -> String
    ) -> Requirement {
        guard let race = Catalogue.hazard(id) as? any Race else {
            preconditionFailure("no race \(id)")
        }
        return Requirement(
            id: id, name: "\(race.name): \(reason.rawValue)",
            story: race.story + " Find an interleaving in which \(reason.sentence).",
            question: question
        ) { answer in
            .scheduled(
                Scheduled(
                    schedule: schedule(answer as! any SchedulesAnswer), options: race.options,
                    wanted: reason, wish: "in which \(reason.sentence)",
                    scenario: race.scenario(on: .handlers)))
        }
    }
}
