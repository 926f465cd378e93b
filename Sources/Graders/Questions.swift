extension Requirement {
    /// What is asked when it fails in this way. Its own question is about the fault that it was made
    /// for; an answer may fail otherwise.
    public func question(for failure: Failure) -> String? {
        if let question = failure.question { return question }
        if Requirement.questions.keys.contains(failure.reason) {
            return Requirement.questions[failure.reason] ?? nil
        }
        let isMarked = failure.table?.contains("← every continuation fails from here") ?? false
        let fits =
            (isMarked || !question.contains("the marked step"))
            && (!asksAboutOrder || failure.reason == "out of order"
                || failure.reason == "too early")
        return fits ? question : Requirement.questionsOfHandlers[failure.reason] ?? question
    }

    private var asksAboutOrder: Bool {
        ["H08", "H09", "R06", "E02.2", "E07.2", "E07.3", "E07.4", "E07.11", "E12.5"].contains(id)
    }

    /// For what can happen to any answer in any scenario. There is nothing to ask if the grader or the
    /// system has ended it.
    private static let questions: [String: String?] = [
        "data race":
            "Two threads touch the same thing, and nothing orders the one before the other. What guards "
            + "it in your other lines, and does it guard it here?",
        "deadlock":
            "What does each thread wait for that stands still, and who could bring that about?",
        "waits forever": "What is waited for, and who has to do it after the wait has begun?",
        "no end": "Which loop goes on, and what would have to change for it to end?",
        "not deterministic":
            "What may come out otherwise when the same is done once more: something that is made when it "
            + "is first used, a random number, or the place of an object in memory?",
        "crash": "What has the line taken for granted at which it ends, and when is it not so?",
        "too much output": nil, "killed": nil, "forged": nil, "not explored": nil, "not tried": nil,
    ]

    private static let questionsOfHandlers = [
        "lost":
            "Follow the handler that is not called: who is to call it after each step, and at which step "
            + "is it nobody?",
        "twice":
            "Follow the handler that is called twice: which two steps have both taken it over?",
        "wrong value":
            "Where does the value come from that is told, and who has written it there last?",
    ]
}
