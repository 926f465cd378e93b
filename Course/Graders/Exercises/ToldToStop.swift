import RaceLab

extension Exercise {
    static let toldToStop = Exercise(
        number: 11, title: "Told to stop", chapter: 8, adapters: ["Cancellation"],
        hints: [
            "Registering is like `then`, cancelling is like `resolve`: you know this race, "
                + "and its solution. What is read, and what is changed because of it?",
            "`onCancel` chooses between two actions: it adds the observer to the list, or "
                + "it calls it. `cancel` takes the list, and from then on no thread may add to "
                + "it. Each of these is one critical section.",
            "The critical section ends before any observer is called. The observers to call "
                + "leave it as a value.",
            "A registration has to find its observer again, without keeping it alive after "
                + "the call. A number that is used only once works; the index in an array "
                + "belongs to another observer after the next withdrawal.",
        ],
        afterword:
            "A flag and a dictionary behind one lock; a promise inside, which has solved "
            + "this race already; or a cell for each observer that can be emptied once, so "
            + "that it does not matter if both threads try. PromiseOperators uses the "
            + "promise: Cancellation.swift. (C++ has the same pair as `stop_source` and "
            + "`stop_token`; there, withdrawing even waits for an observer that is running.)",
        forbidden: Forbidden.sentAway
            + Forbidden.finished("CancellationSource", "CancellationToken"),
        requirements: CancellationRequirements.all)
}

private enum CancellationRequirements {
    typealias Answer = any CancellationAnswer

    static let all: [Requirement] = [
        .programs(
            "E11.1", "one thread, small programs",
            "One thread registers and withdraws observers, cancels, and reads `isCancelled`, in every "
                + "order, and an observer does so, too. Source and token may be released before the "
                + "registrations. After each call, each observer has been called as often as it should "
                + "have been."
        ) { (answer: Answer) in
            .inSequence(CancellationPrograms.inSequence, watched: 200) { _ in
                CancellationSubject(answer)
            }
        },
        .programs(
            "E11.2", "nothing is kept alive",
            "Some of these programs again. What an observer has captured must be freed when it has "
                + "been called or withdrawn, even if the registration lives on, or when nothing else "
                + "lives. Its `deinit` reads the token, and registers another observer."
        ) { (answer: Answer) in
            .inSequence(CancellationPrograms.ofMemory, watched: .max) { _ in
                CancellationSubject(answer, capturing: .busyObject)
            }
        }.with(\.isAlsoRunOptimized, true),
        .unwatched(
            "E11.3", "registrations that are released",
            "\(Bounds.squared) observers are registered, and the registrations are released. In between, "
                + "twice as many are registered and withdrawn: half of them at once, half of them "
                + "later. Then others are registered. At the cancellation, all that were not "
                + "withdrawn are called.",
            asking:
                "What keeps an observer until it is called, and can two observers be equal in what "
                + "you distinguish them by?",
            with: Answer.self, calledThoughDropped),
        .programs(
            "E11.4", "two and three threads, small programs",
            "Two or three threads register and withdraw observers, cancel, and read `isCancelled`, also "
                + "while an observer waits for that. In every interleaving, each observer is called as "
                + "often as if the calls had been made one after another, and what it has captured "
                + "is freed when it has been called or withdrawn.",
            asking:
                "Which two of your steps must be one, so that no other thread can come between them?"
        ) { (answer: Answer) in
            .inThreads(CancellationPrograms.inThreads) { _ in
                CancellationSubject(answer, capturing: .object)
            }
        },
        .independence(
            "E11.5", of: "sources", "Two threads each use all functions of their own source.",
            with: Answer.self, useAlone),
    ]

    /// Of three observers, the first is kept, and no variable keeps its registration. The second is
    /// withdrawn at once, and the third when all of these are registered. Those that are registered
    /// after that are kept. A closure for each shows which one is lost. One for all exposes answers
    /// that identify an observer by an address.
    private static func calledThoughDropped(_ answer: Answer) throws {
        let (early, count) = (3 * Bounds.squared, 4 * Bounds.squared)
        let isKept = { (number: Int) in number % 3 == 0 || number >= early }
        let kept = (0..<count).filter(isKept)
        for haveNumbers in [true, false] {
            let (source, calls) = (answer.source(), Scenario.Log<Int>())
            let token = source.gradedToken
            let same: @Sendable () -> Void = { calls.append(0) }
            var late: [() -> Void] = []
            for number in 0..<count {
                if number == early { late.forEach { $0() } }
                let own: @Sendable () -> Void = { calls.append(number) }
                let withdraw = token.gradedOnCancel(haveNumbers ? own : same)
                if isKept(number) { continue }
                if number % 3 == 1 { withdraw() } else { late.append(withdraw) }
            }
            source.gradedCancel()
            let called = calls.entries
            if haveNumbers, let lost = Set(kept).subtracting(called).min() {
                throw Fault(
                    "lost",
                    "of \(count) observers, number \(lost + 1) has not been withdrawn, and is never "
                        + "called")
            }
            if let wrong = called.first(where: { !isKept($0) }) {
                throw Fault(
                    "wrongly called",
                    "of \(count) observers, number \(wrong + 1) has been withdrawn, and is called")
            }
            guard called.count != kept.count else { continue }
            throw Fault(
                called.count < kept.count ? "lost" : "twice",
                "\(kept.count) observers are not withdrawn, and \(called.count) are called")
        }
    }

    @Sendable private static func useAlone(_ answer: Answer) -> AnyObject {
        let source = answer.source()
        let token = source.gradedToken
        let withdraw = token.gradedOnCancel {}
        _ = token.gradedOnCancel {}
        withdraw()
        _ = token.gradedIsCancelled
        for _ in 0..<2 {
            source.gradedCancel()
            withdraw()
            token.gradedOnCancel {}()
        }
        return source as AnyObject
    }
}
