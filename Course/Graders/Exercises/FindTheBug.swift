import RaceLab
import SharedSuite

extension Exercise {
    static let findTheBug = Exercise(
        number: 12, title: "Find the bug", chapter: 11,
        adapters: ["Promise", "BugHunt", "Handle"],
        hints: [
            "Draw a line around each critical section. Between two of them, any other "
                + "thread may run.",
            "For each critical section: what does the code after it assume because of what "
                + "was read in it? Could another thread have made that untrue?",
            "The code makes three assumptions: that the promise is pending, that a thread "
                + "is calling handlers, that the list is empty. And a property may be accessed "
                + "without the lock.",
            "When you suspect a gap between two critical sections, let another thread run "
                + "there: let it settle, or observe, to its end. Then continue the first thread.",
        ],
        afterword:
            "Any interleaving is accepted that breaks the original promise, and any class "
            + "that survives all interleavings. The smallest fix turns two critical sections "
            + "into one: check and act under the same lock. For the next bug: promise-lab "
            + "exercise 12 --variant …",
        forbidden: Forbidden.sentAway + Forbidden.finishedThing,
        requirements: [report]
            + PromiseChecks.ofOrder.requirements(12, first: 2, threads: true) {
                PromisePrograms.inSequence()
            })

    private static let report = Requirement(
        id: "E12.1", name: "the report",
        story:
            "The original promise must fail the hazard that you name, in the interleaving "
            + "that you give.",
        question: "Which decision is out of date in your interleaving, and since which step?"
    ) { answer in
        let answer = answer as! any BugHuntAnswer
        guard let race = Catalogue.races.first(where: { $0.id == answer.hazard.uppercased() })
        else {
            let ids = Catalogue.races.prefix(10).map(\.id).joined(separator: ", ")
            let fault = Fault(
                "no report",
                "'\(answer.hazard)' is not a hazard with several threads: for a promise these are "
                    + ids)
            return .unwatched({ throw fault }, stack: 1 << 20)
        }
        var options = race.options
        options.failingKinds.insert(.dataRace)
        return .scheduled(
            Scheduled(
                schedule: answer.schedule, options: options, wanted: nil,
                scenario: race.scenario(onType: answer.suspect)))
    }
}
