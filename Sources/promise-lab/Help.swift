enum Help {
    static func text(about command: String?) throws -> String {
        guard let command else { return overview }
        guard let text = texts[command] ?? classroom[command] else {
            throw Mistake("there is no command '\(command)' to tell about; see promise-lab --help")
        }
        return text
    }

    /// The options that the help of a command tells about; `nil` if there is none.
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

        usage: promise-lab [matrix]                         the matrix: every hazard on every stage
               promise-lab --steps                          the same for the steps to Stage 3
               promise-lab --designs                        the same for the designs of libraries
               promise-lab show ID --stage N                what happens, step by step
               promise-lab replay ID --stage N --schedule S one interleaving of your choice
               promise-lab compare A B ID                   the same race on two subjects
               promise-lab page                             every race, to step through in a browser
               promise-lab exercises                        where you stand, and what is next
               promise-lab exercise N [--hint]              the task of an exercise, or a hint
               promise-lab grade N                          grades your answer to it; or a class's
               promise-lab watch                            grades whatever you save
               promise-lab tour                             a walk through, for the first time
               promise-lab list                             every hazard, told briefly
               promise-lab aplus                            Promises/A+, clause by clause
               promise-lab mutants                          are planted faults noticed?
               promise-lab bench lab                        how fast the lab is on this machine
               promise-lab demo http                        the article's own example, for real
               promise-lab help COMMAND                     more about one of them

        Exit status: 2 if the command was mistyped, or does not fit; 1 if it could not do its work,
        and where something is judged:

          matrix, aplus, tour   0 if every verdict is as documented, 1 if one is not
          mutants               0 if every planted fault was noticed, 1 if one was not
          grade, grade N        0 if no answer is wrong, 1 if one is. An unchanged stub counts
                                as not attempted, not as wrong.
          all others            0, whatever they show: show, compare and replay of what fails, and
                                grade with --replay or --submissions, too

        Color is used on a terminal, unless NO_COLOR is set.

        """

    private static let texts = [
        "matrix": """
        usage: promise-lab [matrix] [--steps | --designs] [--only IDS]

        Runs every hazard of the catalogue on every stage and prints what came of it:

          ✓            survives (for a race: 0/n, none of n interleavings fails)
          ✗ reason     fails (for a race: k/n, k of n interleavings fail)
          –            cannot be expressed on this stage

        Each verdict is compared with the documented one: the exit status is 0 if all are as
        documented, those that fail included, and 1 if one is not. With --steps the columns are the
        steps from Stage 2 to Stage 3 (Sources/Steps), and each line ends with what a step changes.
        With --designs they are the designs of Bolts, PromiseKit and Google Promises in miniature, a
        promise as an actor and its repair (Sources/FieldGuide), and Stage 3; each line ends with the
        reasons. With --only the rows named alone: --only R01,R05.

        """,
        "show": """
        usage: promise-lab show ID --stage N [--every] [--format text|markdown|json|html]
               promise-lab show ID --step A …
               promise-lab show ID --design NAME …

        Tells the story of a hazard and shows what happens on a stage. For a race that fails:
        the interleaving with the fewest switches that fails, as a table with a column for each
        thread and the state of the promise after each step. For one that survives: how many
        interleavings were explored, and one of them.

          promise-lab show R01 --stage 1

        --every explores every order. Otherwise those that differ only in the order of steps that
        do not touch the same thing are explored once: the verdict is the same, the counts are
        smaller. With --format the table alone is written, as Markdown or as JSON, which
        Sources/RaceLab/RaceLab.docc/JSON.md describes. With --format html a page is written, on
        which the race can be stepped through in a browser:

          promise-lab show R01 --stage 1 --format html > r01.html

        Exit status 0, whether it survives or fails.

        """,
        "replay": """
        usage: promise-lab replay ID --stage N --schedule S [--format text|markdown|json]
               promise-lab replay ID --step A --schedule S …
               promise-lab replay ID --design NAME --schedule S …

        Runs a race under one interleaving. The schedule has a letter for each step: the first
        letter of the thread's name (or A, B, C where two begin alike); a number behind a
        letter repeats it, so SR3S is SRRRS. A minus behind it is for an attempt to take a lock
        that fails because it comes right before the release. The schedule has to lead every
        thread to its end, and no further. Every table ends with the schedule that gives it.

          promise-lab replay R01 --stage 1 --schedule SRRRSS

        Exit status 0, whether every check holds or not; 2 if the schedule does not fit, with the
        step at which it does not.

        """,
        "compare": """
        usage: promise-lab compare A B ID
               promise-lab compare --step A --step B ID, and so on with --stage and --design

        Shows a race on two subjects side by side: of each the interleaving that show would show,
        a row for each step with the letter of its thread, as schedules have it, the number of the
        line, and the line. A bar stands where a thread holds a lock, → before the state where it
        changes, ← before a note. A and B are modules of stages and steps, or the designs
        BoltsStyle, PromiseKitStyle and GooglePromisesStyle.

          promise-lab compare PromiseKitStyle Stage3ThreadSafe R06
          promise-lab compare --step A --step B R09

        Exit status 0, whether they survive or fail.

        """,
        "page": """
        usage: promise-lab page [--output FILE] [--only IDS]

        Writes one HTML file, page.html by default, that needs no network: the matrix of every
        hazard on every stage, step and design, and every race to step through by hand. The real
        source is shown, the reader decides which thread goes on, and a map shows from which
        states every interleaving fails. The address of a race ends with a schedule, as replay
        takes it:

          page.html#R01/stage1/SRRRSS

        With --only the page has the rows named, such as --only R01,R05. All rows take up to a minute.
        Exit status 0.

        """,
        "bench": """
        usage: promise-lab bench lab

        Measures how many interleavings a second the lab explores: all of R01 and of R05 on each
        stage, none left out; and how often threads hand over to one another meanwhile, which is
        what limits it. Then the same with reduction: how many interleavings are left, in how many
        runs they are explored, and how many runs a second. Then both with tasks: R01 and R02 on the
        actors of the field guide. Takes about twenty-five seconds.

        """,
        "aplus": """
        usage: promise-lab aplus

        Tries the clauses of Promises/A+ 1.1 that have a meaning in typed Swift, on every stage:
        each in many cases, with the promise settled before its handlers are registered, at once
        and later. Stage 3 runs its handlers on a queue. Then come the clauses that cannot be
        expressed, with the reason. Exit status 0 if all is as documented; 1 if a case that is
        documented to pass fails, or if one that is documented to fail passes, or fails for another
        reason.

        """,
        "mutants": """
        usage: promise-lab mutants

        Copies the package to a temporary folder, plants one fault after the other there (the
        lock removed, handlers called under it, …), builds the copy, runs the rows that have to
        notice, and looks whether they do, for the right reason. Takes two or three minutes.
        Exit status 0 if every fault was noticed, 1 if one was not.

        """,
        "demo": """
        usage: promise-lab demo http

        Runs the article's own example: two HTTP requests, the second started by the first, and
        one `error` at the end. The requests go to a server on the loopback interface, which the
        command starts itself. Shown is what happens, in order, on Stage 2 (everything confined
        to one queue) and on Stage 3: when all goes well, when the server fails, when no
        server listens, and when no answer comes.

        """,
        "tour": """
        usage: promise-lab tour

        Walks through the lab: says what is coming, asks what you expect, waits for Return and
        runs it. Ctrl-D ends it. Where standard input is no terminal, it does not wait.

        """,
        "list": """
        usage: promise-lab list

        Prints the id, the name and the story of every hazard.

        """,
    ]
}
