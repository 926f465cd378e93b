import Foundation
import SharedSuite

/// Walks a newcomer through the first chapter of the Tutorial: shows, asks, waits, runs.
enum TourCommand {
    private struct Stop: Sendable {
        let text: String
        let question: String
        /// What to type in order to see it without the tour.
        let command: String
        let run: @Sendable () throws -> Void
    }

    static func run() throws {
        print(Terminal.painted("A walk through the lab", .bold) + "\n")
        for (index, stop) in stops.enumerated() {
            print(Terminal.painted("\(index + 1) of \(stops.count)", .bold))
            print(Terminal.wrapped(stop.text))
            print("\n" + Terminal.wrapped("? \(stop.question)"))
            print(Terminal.painted("\n$ \(stop.command)", .bold))
            guard isAnswered() else { return print("") }
            try stop.run()
            print("")
        }
        print(Terminal.wrapped(end))
    }

    /// Waits for Return, if somebody is there to press it. Who ends the input instead ends the tour.
    private static func isAnswered() -> Bool {
        guard isatty(STDIN_FILENO) == 1 else { return true }
        print("Press Return to run it. ", terminator: "")
        fflush(nil)
        return readLine() != nil
    }

    private static func show(_ id: String, _ stage: Subject) throws {
        try ShowCommand.run(Catalogue.hazard(id)!, on: stage, everyOrder: false, .text)
    }

    private static let stops = [
        Stop(
            text: "A promise stands for a value that is not there yet. `then` registers a handler "
                + "with it, a function that is called with the value; `resolve` fulfils it. "
                + "Stage 1 has room for one handler.",
            question: "Two handlers are registered on one promise. Which of them is called?",
            command: "swift run promise-lab show H02 --stage 1",
            run: { try show("H02", .naive) }),
        Stop(
            text: "Now there are two threads: one calls `then`, the other one `resolve`. Each does "
                + "its own steps in order, but nothing says how they lie between one another. The "
                + "lab tries every way, and shows one that goes wrong: a column for each thread, a "
                + "row for each step, and the state of the promise on the right.",
            question: "When the subscriber looks at the state and the promise is still pending, is "
                + "the handler safe?",
            command: "swift run promise-lab show R01 --stage 1",
            run: { try show("R01", .naive) }),
        Stop(
            text: "The letters at the end are a schedule: which thread takes each step. Any other "
                + "one can be replayed. In this one the resolver is done first.",
            question: "The slot is still empty when the resolver looks into it. Who calls the "
                + "handler?",
            command: "swift run promise-lab replay R01 --stage 1 --schedule RRRS6",
            run: {
                try ReplayCommand.run(Catalogue.hazard("R01")!, on: .naive, "RRRS6", .text)
            }),
        Stop(
            text: "Stage 3 has a lock. A step that takes it is marked with ╶, and nobody can be in "
                + "the middle of one.",
            question: "How many ways are left in which the two threads can meet?",
            command: "swift run promise-lab show R01 --stage 3",
            run: { try show("R01", .threadSafe) }),
        Stop(
            text: "The matrix runs all that can go wrong on all three stages. It takes ten to "
                + "thirty seconds.",
            question: "Which rows does a list of handlers mend, and which only a lock?",
            command: "swift run promise-lab",
            run: { try Matrix.command(Matrix.stages) }),
    ]

    private static let end =
        "That was the tour. Tutorial.md goes on from here, and promise-lab list tells the story of "
        + "each row."
}
