enum Help {
    static func text(about command: String?) throws -> String {
        guard let command else { return overview }
        guard let text = texts[command] ?? classroom[command] else {
            throw Mistake("unknown command '\(command)'; see promise-lab --help")
        }
        return text
    }

    /// The options that the help of a command describes; `nil` if it has no help.
    static func options(of command: String) -> [String]? {
        guard let text = texts[command] ?? classroom[command] else { return nil }
        var options: [String] = []
        for match in text.matches(of: /--[a-z]+/) where !options.contains(String(match.0)) {
            options.append(String(match.0))
        }
        return options
    }

    private static let overview = """
        promise-lab shows which hazards and races each stage of AWPromise survives. It runs the
        unmodified sources, on one thread or under every interleaving of several.

        usage: promise-lab [matrix]                         every hazard on every stage
               promise-lab --steps                          the same on the steps to Stage 3
               promise-lab --designs                        the same on the designs of libraries
               promise-lab show ID --stage N                one hazard on a stage, step by step
               promise-lab replay ID --stage N --schedule S an interleaving of your choice
               promise-lab compare A B ID                   the same race on two subjects
               promise-lab page                             every race, to step through in a browser
               promise-lab exercises                        your progress, and the next exercise
               promise-lab exercise N [--hint]              prints the task or a hint
               promise-lab grade N                          grades your answer, or a class
               promise-lab watch                            grades each answer when you save it
               promise-lab tour                             a guided tour for newcomers
               promise-lab list                             every hazard, in a few words
               promise-lab aplus                            Promises/A+, clause by clause
               promise-lab mutants                          plants faults that the rows must notice
               promise-lab bench lab                        measures the speed of the lab
               promise-lab demo http                        runs the article's own example
               promise-lab help COMMAND                     the help of one command

        Exit status: 2 if the command was mistyped, or does not apply; 1 if it could not finish; and
        for the commands that give verdicts:

          matrix, aplus, tour   0 if every verdict is as documented, 1 if one is not
          mutants               0 if every planted fault was noticed, 1 if one was not
          grade, grade N        0 if no answer is wrong, 1 if one is. An unchanged stub counts
                                as not attempted, not as wrong.
          all others            0, whatever they show. This includes show, compare and replay of a
                                failure, and grade with --replay or --submissions.

        Color is used on a terminal, unless NO_COLOR is set.

        """

    private static let texts = [
        "matrix": """
        usage: promise-lab [matrix] [--steps | --designs] [--only IDS]

        Runs every hazard of the catalogue on every stage and prints the verdicts:

          ✓            survives (for a race: 0/n, none of n interleavings fails)
          ✗ reason     fails (for a race: k/n, k of n interleavings fail)
          –            cannot be expressed on this stage

        Each verdict is compared with the documented one. The exit status is 0 if all verdicts are
        as documented, including documented failures, and 1 otherwise. With --steps, the columns
        are the steps from Stage 2 to Stage 3 (Sources/Steps), and the end of each line shows where
        the verdict changes. With --designs, they are the designs of Bolts, PromiseKit and Google
        Promises in miniature, a promise as an actor and its repair (Sources/FieldGuide), and
        Stage 3. To select rows: --only R01,R05.

        """,
        "show": """
        usage: promise-lab show ID --stage N [--every] [--format text|markdown|json|html]
               promise-lab show ID --step A …
               promise-lab show ID --design NAME …

        Describes a hazard and shows what happens on a stage. For a race that fails, it shows an
        interleaving with the first finding and the fewest preemptions, as a table with a column
        for each thread and the state of the promise after each step. For a race that survives, it
        shows the number of interleavings explored, and one of them.

          promise-lab show R01 --stage 1

        --every explores every order. Without it, interleavings that differ only in the order of
        independent steps are explored once: the verdict is the same, the counts are smaller.
        --format markdown and --format json write the table alone;
        Lab/RaceLab/RaceLab.docc/JSON.md describes the JSON. --format html writes a page for
        stepping through the race in a browser:

          promise-lab show R01 --stage 1 --format html > r01.html

        The exit status is 0, whether the race survives or fails.

        """,
        "replay": """
        usage: promise-lab replay ID --stage N --schedule S [--format text|markdown|json]
               promise-lab replay ID --step A --schedule S …
               promise-lab replay ID --design NAME --schedule S …

        Runs a race under one interleaving. The schedule has a letter for each step: the first
        letter of the thread's name (or A, B, C if two names begin with the same letter). Threads
        that the code under test starts have letters from the end of the alphabet. A number after
        a letter repeats it: SR3S is SRRRS. A minus after a letter marks an attempt to take a lock
        that fails because it comes right before the release. The schedule must lead every thread
        to its end or into a deadlock, and no further. Every table ends with its schedule.

          promise-lab replay R01 --stage 1 --schedule SRRRSS

        The exit status is 0, whether every check holds or not, and 2 if the schedule does not fit;
        then the step is named.

        """,
        "compare": """
        usage: promise-lab compare A B ID
               promise-lab compare --step A --step B ID, and so on with --stage and --design

        Shows a race on two subjects side by side, with the interleavings that show would print.
        Each row is a step: the letter of its thread, as in a schedule, the line number, and the
        line. A bar marks a thread that holds a lock, → a change of the state, and ← a note. A and B
        are modules of stages and steps, or designs, such as BoltsStyle.

          promise-lab compare PromiseKitStyle Stage3ThreadSafe R06
          promise-lab compare --step A --step B R09

        The exit status is 0, whether they survive or fail.

        """,
        "page": """
        usage: promise-lab page [--output FILE] [--only IDS]

        Writes one HTML file, page.html by default, that needs no network. It has the matrix of
        every hazard on every stage, step and design, and every race to step through by hand. It
        shows the real source, you choose the thread that continues, and a map shows the states
        from which every interleaving fails. The address of a race ends with a schedule, as for
        replay:

          page.html#R01/stage1/SRRRSS

        --only selects rows: --only R01,R05. All rows take up to a minute. The exit status is 0.

        """,
        "bench": """
        usage: promise-lab bench lab

        Measures how many interleavings the lab explores in a second: all interleavings of R01 and
        R05 on each stage; and the number of context switches, which limit the speed. Then the same
        with reduction: how many interleavings are left, how many runs explore them, and how many
        runs it makes in a second. Then both with tasks: R01 and R02 on the actors of the field
        guide. Takes about twenty-five seconds.

        """,
        "aplus": """
        usage: promise-lab aplus

        Tests the clauses of Promises/A+ 1.1 that have a meaning in typed Swift, on every stage.
        Each is tested in many cases, with the promise settled before its handlers are registered,
        at once, and later. Stage 3 runs its handlers on a queue. Then it lists the clauses that
        cannot be expressed, with the reason. The exit status is 0 if all results are as documented;
        1 if a case that is documented to pass fails, or if one that is documented to fail passes
        or fails for another reason.

        """,
        "mutants": """
        usage: promise-lab mutants

        Copies the package to a temporary folder and plants one fault after the other there (the
        lock removed, handlers called under it, …). For each, it builds the copy, runs the rows that
        must notice the fault, and checks that they fail for the right reason. Takes two or three
        minutes. The exit status is 0 if every fault was noticed, 1 if one was not.

        """,
        "demo": """
        usage: promise-lab demo http

        Runs the article's own example: two HTTP requests, the second started by the first, and
        one `error` at the end. The requests go to a server on the loopback interface, which the
        command starts itself. It prints the events in order, on Stage 2 (everything confined to
        one queue) and on Stage 3: with a working server, with a server that fails, without a
        server, and with a server that does not answer.

        """,
        "tour": """
        usage: promise-lab tour

        Walks through the lab: announces each command, asks what you expect, waits for Return, and
        runs it. Ctrl-D ends the tour. If standard input is not a terminal, it does not wait.

        """,
        "list": """
        usage: promise-lab list

        Prints the id, the name and a description of every hazard.

        """,
    ]
}
