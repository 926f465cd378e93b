enum Help {
    static func text(about command: String?) throws -> String {
        guard let command else { return overview }
        guard let text = texts[command] else {
            throw Mistake("there is no command '\(command)' to tell about; see promise-lab --help")
        }
        return text
    }

    private static let overview = """
        promise-lab shows which hazards and races each stage of AWPromise survives. It runs the
        unmodified sources, on one thread or under every interleaving of several.

        usage: promise-lab                                  the matrix: every hazard on every stage
               promise-lab show ID --stage N                what happens, step by step
               promise-lab replay ID --stage N --schedule S one interleaving of your choice
               promise-lab tour                             a walk through, for the first time
               promise-lab list                             every hazard in a sentence
               promise-lab mutants                          are planted faults noticed?
               promise-lab help COMMAND                     more about one of them

        Exit status: 0 if all is as documented, 1 if it is not, 2 if the command was mistyped.
        Colour is used on a terminal, unless NO_COLOR is set.

        """

    private static let texts = [
        "matrix": """
        usage: promise-lab [matrix]

        Runs every hazard of the catalogue on every stage and prints what came of it:

          ✓            survives (for a race: 0/n, none of n interleavings fails)
          ✗ reason     fails (for a race: k/n, k of n interleavings fail)
          –            cannot be expressed on this stage

        Each verdict is compared with the documented one. Exit status 1 if one differs.

        """,
        "show": """
        usage: promise-lab show ID --stage N

        Tells the story of a hazard and shows what happens on a stage. For a race that fails:
        the interleaving with the fewest switches that fails, as a table with a column for each
        thread and the state of the promise after each step. For one that survives: how many
        interleavings were explored, and one of them.

          promise-lab show R01 --stage 1

        """,
        "replay": """
        usage: promise-lab replay ID --stage N --schedule S

        Runs a race under one interleaving. The schedule has a letter for each step: the first
        letter of the thread's name (or A, B, C where two begin alike); a number behind a
        letter repeats it, so SR3S is SRRRS. Every table ends with the schedule that gives it.

          promise-lab replay R01 --stage 1 --schedule SRRRSS

        Exit status 2 if the schedule does not fit, with the step at which it does not.

        """,
        "mutants": """
        usage: promise-lab mutants

        Copies the package to a temporary folder, plants one fault after the other there (the
        lock removed, handlers called under it, …), builds the copy, runs its matrix and looks
        whether the right rows notice, for the right reason. Takes about two minutes.

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
