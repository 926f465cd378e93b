extension Help {
    static let classroom = [
        "exercises": """
        usage: promise-lab exercises [--workbook FOLDER]

        Lists the exercises, each with its chapter of the Tutorial and your progress: untouched, in
        progress, or solved. The last line says what to do next. Your answers are the files in
        Exercises/Workbook, or in another folder that you name with --workbook.

        """,
        "exercise": """
        usage: promise-lab exercise N [--start | --hint] [--workbook FOLDER]
               promise-lab exercise N --reset [--workbook FOLDER]
               promise-lab exercise 12 --variant K [--workbook FOLDER]

        Prints the task of an exercise. --start writes its file into the workbook, unless the file
        exists. --hint prints one more hint each time. --reset replaces the file by the stub, and
        --variant by the stub with another bug (exercise 12 has five). An answer in the old file is
        kept in another place, which the command prints.

        """,
        "grade": """
        usage: promise-lab grade N [--file FILE | --workbook FOLDER]
               promise-lab grade N [--file FILE | --workbook FOLDER] --replay ID --schedule S
               promise-lab grade N [--file FILE | --workbook FOLDER] --format html
               promise-lab grade [--workbook FOLDER]
               promise-lab grade --submissions FOLDER --output SHEET [--reports FOLDER] …

        Grades an answer: compiles it, and tests every requirement of the exercise. Requirements
        with several threads are tested under every interleaving. For the first requirement that is
        not met, it shows the interleaving in your own lines, and asks a question. Without a number,
        it grades all answers of the workbook, with one line for each. --replay shows one
        interleaving as a table. --format html writes a page for stepping through the requirement
        that is not met in a browser, with your own lines:

          promise-lab grade 5 --format html > answer.html

        --submissions grades every workbook in a folder with a sub-folder for each student. Each
        answer runs in a process of its own, with limits. That contains accidents, but is no
        security boundary: read Exercises/TEACHING.md before you run other people's code. The sheet
        has comma-separated values. Results are kept next to it (SHEET.journal), so that grading
        can be resumed, and only changed answers are graded again.

          --reports FOLDER   also writes a Markdown report for each student
          --afresh           discards the results

        For one answer or for a class:

          --seconds N        limit on processor time for one interleaving (8)
          --megabytes N      limit on memory for an answer, in addition to the program's (1024)

        The exit status of grade N, and of grade alone, is 1 if an answer is wrong, does not
        compile, is not accepted, or could not be graded; otherwise 0. An unchanged stub counts as not
        attempted, not as wrong, so a workbook of stubs gives 0. (A file named with --file is always
        graded.) With --replay: 0, whatever the interleaving shows; 2 if the schedule does not fit,
        or the answer cannot be run. With --format html: 0 if the page was written; 1 if there is
        none, because no requirement fails in an interleaving. With --submissions: 0, whatever the
        grades in the sheet are.

        """,
        "watch": """
        usage: promise-lab watch [--workbook FOLDER]

        Grades each answer of the workbook whenever you save it, until you press Ctrl-C.

        """,
    ]
}
