extension Requirement {
    /// The question for a failure. The requirement's own question is about the bug that it was made
    /// for; an answer may fail differently.
    public func question(for failure: Failure) -> String? {
        if let question = failure.question { return question }
        // Without a table, no line is known at which it has crashed.
        if failure.reason == "crash", failure.table == nil, !hasPrograms { return question }
        if let known = Requirement.questions[failure.reason] { return known }
        let isTooSoon = failure.detail.hasPrefix(Fault.tooSoon)
        let other = Requirement.otherQuestions[isTooSoon ? Fault.tooSoon : failure.reason]
        // This one asks about the order itself.
        if id.withoutProgram == "E08.1", failure.reason == "out of order" { return question }
        let isMarked = failure.table?.remarks("every continuation fails from here") ?? false
        if hasPrograms {
            return isMarked && failure.reason != Fault.underALock.reason
                ? "At the marked step, what does the one thread assume that another one has made "
                    + "untrue?" : other ?? question
        }
        if question.contains("the marked step"), !isMarked { return other }
        let isOther = ["out of order", "too early", "wrong error"].contains(failure.reason)
        return isOther ? other : question
    }

    /// For failures that are possible in any scenario. There is no question if the grader or the
    /// system has ended the process.
    private static let questions: [String: String?] = [
        "data race":
            "Two threads access the same memory, and nothing orders one access before the "
            + "other. What protects it in your other lines, and is that used here?",
        "overlap":
            "Two threads can be in the middle of changing the same memory. What keeps the second "
            + "thread out until the first one has finished?",
        "deadlock":
            "What does each blocked thread wait for, and which thread could provide it?",
        "livelock":
            "What does the loop wait for, and which thread could bring that about?",
        "misuse":
            "Which of your lines take the lock, and which release it, on each path through the "
            + "function?",
        "waits forever":
            "What does the thread wait for, and which thread must provide it after the wait has "
            + "begun?",
        "returns early":
            "Which thread takes the waiting handlers from the list, and what may another thread do "
            + "before it has called them?",
        "not settled":
            "Follow the last event of the program: which of your lines receives it, and which line "
            + "should settle the promise?",
        "no end":
            "Which loop continues, and what would have to change for it to end? Or how often does it "
            + "run, if there are thousands of what it runs over?",
        "not deterministic":
            "What may differ when the same code runs again: something that is created at "
            + "its first use, a random number, or the address of an object?",
        "crash": "What does the line assume at which the process ended, and when is that untrue?",
        "too much output": nil, "killed": nil, "forged": nil, "no verdict": nil,
        "not explored": nil, "not controlled": nil, "no schedule": nil,
    ]

    private static let otherQuestions = [
        "lost":
            "Follow the handler that is not called: what refers to it after each step, and which line "
            + "should have called it?",
        "out of order":
            "Of two handlers that wait, where is it stored which one was registered first, and "
            + "which line decides which is called next?",
        Fault.tooSoon:
            "While one handler runs, which of your lines calls the other one, and what should that "
            + "line have known?",
        "twice":
            "Which of your lines has made each of the two calls, and what should have "
            + "prevented the second one?",
        "too early":
            "Which line decides that it is time, and what has not happened yet at that moment?",
        "abandoned":
            "Which of your lines should have settled the promise before the last reference to its "
            + "resolver was released, and why did it not run?",
        "main queue":
            "Which handler of yours names no dispatcher?",
        "wrong value":
            "Where does the wrong value come from, and which step wrote it there last?",
        "wrong error":
            "Which error is thrown instead of the one that is expected, and which line decides "
            + "that?",
        "unexpected call":
            "Which outcome did the promise of this handler have at that moment, and which line "
            + "decided to call the handler?",
        "called under a lock":
            "Which lock is held while code runs that is not yours, and which of your lines releases "
            + "it?",
        "kept alive":
            "Which property or closure still refers to the object, and which line should have ended "
            + "that?",
        "left behind":
            "Which of your lines should take back what is left, and why did it not run?",
        "wrongly called":
            "Which of your lines has called the observer, and what decides there that it is called?",
        "result differs":
            "Which line stores the outcome, and has every reader to wait for it? What can run "
            + "before that line?",
        "settles twice":
            "What does the second call find, and when was that stored?",
        "oversold":
            "After which step do other tasks see that a seat is taken, and which of them can look "
            + "before it?",
        "paid for nothing":
            "What does the buyer rely on when the payment begins, and what can change that before "
            + "it ends?",
    ]
}
