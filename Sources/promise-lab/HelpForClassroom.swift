extension Help {
    static let classroom = [
        "exercises": """
        usage: promise-lab exercises [--workbook FOLDER]

        Lists the exercises, each with the chapter of the Tutorial that it belongs to and how far
        you are: untouched, in progress, or solved. The last line says what to do next. Your
        answers are the files in Exercises/Workbook, or in another folder that you name.

        """,
        "exercise": """
        usage: promise-lab exercise N [--start | --hint] [--workbook FOLDER]
               promise-lab exercise N --reset [--workbook FOLDER]
               promise-lab exercise 12 --variant K [--workbook FOLDER]

        Prints the task of an exercise. With --start: writes its file into the workbook, unless it is
        there already. With --hint: one hint more than the last time. With --reset
        its file in the workbook becomes the stub again; with --variant, the stub with another
        bug in it (exercise 12 has five). An answer of yours that stands there is kept, and it is
        said where.

        """,
        "grade": """
        usage: promise-lab grade N [--file FILE | --workbook FOLDER]
               promise-lab grade N [--file FILE | --workbook FOLDER] --replay ID --schedule S
               promise-lab grade N [--file FILE | --workbook FOLDER] --format html
               promise-lab grade [--workbook FOLDER]
               promise-lab grade --submissions FOLDER --output SHEET [--reports FOLDER] …

        Grades an answer: compiles it, and tries it on every requirement of the exercise, those of
        several threads under every interleaving. For the first that is not met it shows why, with
        the interleaving in your own lines, and asks a question. Without a number: all answers of
        the workbook, a line each. With --replay: one interleaving, as a table. With --format html: a
        page on which that requirement can be stepped through in a browser, with your own lines:

          promise-lab grade 5 --format html > answer.html

        With --submissions: every workbook of a folder that has one sub-folder a student. Each answer
        is tried in a process of its own, with limits; that keeps accidents apart, but is no prison:
        see Exercises/TEACHING.md before you run what others have written. The sheet has comma-
        separated values. What is known is kept beside it (SHEET.journal), so that grading can be
        resumed, and only answers that have changed are graded again.

          --reports FOLDER   writes a Markdown report for each student, too
          --afresh           forgets what is known
        With one answer as with a class:

          --seconds N        processor time without an interleaving's end (8)
          --megabytes N      memory for an answer, in addition to the program's (1024)

        Exit status of grade N, and of grade alone: 1 if an answer is wrong, does not compile, is not
        accepted or could not be graded; otherwise 0. An unchanged stub counts as not attempted,
        not as wrong: 0, also if there is nothing else (what is named with --file is graded
        in any case). With --replay: 0, whatever the interleaving shows; 2 if it does not fit, or
        the answer cannot be tried. With --format html: 0 if the page is written; 1 if there is
        none, because no requirement fails in an interleaving. With --submissions: 0, whatever the
        grades are, which stand in the sheet.

        """,
        "watch": """
        usage: promise-lab watch [--workbook FOLDER]

        Grades each answer of the workbook whenever you save it, until you press Ctrl-C.

        """,
    ]
}
