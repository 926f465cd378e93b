import Foundation

extension Command {
    static let tour = Command(
        name: "tour", summary: "a guided tour for newcomers",
        help: """
            Walks through the lab: announces each command, asks what you expect, waits for Return,
            and runs it. Ctrl-D ends the tour. If standard input is not a terminal, it does not
            wait.
            """
    ) { _ in
        print(Terminal.painted("A walk through the lab", .title) + "\n")
        for (index, stop) in Stop.all.enumerated() {
            print(Terminal.painted("\(index + 1) of \(Stop.all.count)", .title))
            print(Terminal.wrapped(stop.text))
            print("\n" + Terminal.wrapped("? \(stop.question)"))
            print(Terminal.painted("\n$ \(stop.command)", .title))
            // The end of the input ends the tour.
            if isatty(STDIN_FILENO) == 1 {
                print("Press Return to run it. ", terminator: "")
                fflush(nil)
                if readLine() == nil { return print("") }
            }
            let words = stop.command.split(separator: " ").dropFirst(3)
            try PromiseLab.run(words.map(String.init))
            print("\n" + Terminal.wrapped("→ \(stop.answer)") + "\n")
        }
        print(
            Terminal.wrapped(
                "This is the end of the tour. Tutorial.md continues from here, and `promise-lab list` "
                    + "tells the story of each row."))
    }
}

/// A stop of the tour: it shows a command, asks a question, runs the command, and answers.
private struct Stop {
    let text: String
    let question: String
    /// The command that shows the same without the tour.
    let command: String
    let answer: String

    static let all = [
        Stop(
            text: "A promise represents a value that does not exist yet. `then` registers a "
                + "handler, a function that is called with the value; `resolve` fulfills the "
                + "promise. Stage 1 has room for one handler.",
            question: "Two handlers are registered on one promise. Which of them is called?",
            command: "swift run promise-lab show H02 --stage 1",
            answer: "Only the second. It has replaced the first."),
        Stop(
            text: "Now there are two threads: one calls `then`, the other `resolve`. Each "
                + "executes its own steps in order, but nothing determines how the steps of the "
                + "two interleave. The lab tries every kind of order and shows one that "
                + "fails: a column for each thread, a row for each step, and the state of the "
                + "promise on the right.",
            question: "The subscriber finds the promise pending. Is its handler safe?",
            command: "swift run promise-lab show R01 --stage 1",
            answer: "No. The resolver may look for a handler between the check and the line that "
                + "stores it, and it looks only once."),
        Stop(
            text: "The letters at the end are a schedule: the thread that takes each step. You can "
                + "replay any schedule. In this one the resolver goes first.",
            question: "The slot is still empty when the resolver reads it. Which thread calls the "
                + "handler?",
            command: "swift run promise-lab replay R01 --stage 1 --schedule RRRS6",
            answer: "The subscriber. It finds the promise fulfilled, and calls its handler at "
                + "once."),
        Stop(
            text: "Stage 3 has a lock. The mark ╶ precedes a step that takes the lock and releases "
                + "it again; no other thread can interrupt it.",
            question: "How many kinds of interleaving are left?",
            command: "swift run promise-lab show R01 --stage 3",
            answer: "Two: `then` first, or `resolve` first."),
        Stop(
            text:
                "The matrix runs all hazards on all three stages. It takes up to half a minute; on "
                + "a slow machine, twice as long.",
            question: "Which rows does a list of handlers fix, and which only a lock?",
            command: "swift run promise-lab",
            answer: "A list and a state that changes once fix H02 to H05. Nearly all rows with two "
                + "threads need a lock."),
    ]
}
