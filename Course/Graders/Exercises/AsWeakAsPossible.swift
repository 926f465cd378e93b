import RaceLab

extension Exercise {
    static let asWeakAsPossible = Exercise(
        number: 14, title: "As weak as possible", chapter: nil, adapters: ["SequenceLock"],
        hints: [
            "In the table, the reader has already seen something new when it reads the old value. "
                + "Which load has read the new value, and which store wrote it?",
            "The class makes two promises. A reader that finds the last value of `sequence` finds "
                + "both new numbers. A reader that has found a new number finds that `sequence` "
                + "has changed. Each promise needs a release and an acquire: where?",
            "A release orders what comes before it, and an acquire what comes after it. The last "
                + "load of `read` must not come too early. Which load before it can see to that?",
            "A fence that releases does so for all later stores of its thread, and one that "
                + "acquires for all earlier loads. So one fence on each side can replace an "
                + "ordering at each number. What needs no ordering at all: what does only this "
                + "thread store?",
        ],
        afterword:
            "Either each number releases and acquires, or a fence on each side does so for both "
            + "numbers, as in the sequence lock of Linux. Surprisingly, the last load needs no "
            + "ordering: what must come before it acquires. The numbers are atomic variables, "
            + "because a read may run during a write; without that it would be a data race. Hans "
            + "Boehm describes these choices in \"Can Seqlocks Get Along with Programming "
            + "Language Memory Models?\" (2012).",
        requirements: [
            .scenario(
                "E14.1", "write ∥ read",
                "One thread writes 1 and 1, while another one reads. It gets both old numbers, "
                    + "both new ones, or nothing.",
                asking:
                    "What had the reader seen before it read the old value? Which store and which "
                    + "load would have to form a pair, so that it could not?",
                with: SequenceLockAnswer.self, writeAndRead
            ).with(\.triesWeakerOrderings, true)
        ])

    /// Whether only the memory orderings of its stub may change, and fences may be added.
    var isAboutOrderings: Bool { number == 14 }

    @Sendable private static func writeAndRead(
        _ scenario: Scenario, _ answer: any SequenceLockAnswer
    ) {
        let pair = answer.pair()
        let results = Scenario.Log<(x: Int, y: Int)?>()
        scenario.thread("writer") { pair.write(1, 1) }
        scenario.thread("reader") {
            let result = pair.read()
            results.append(result, result.map { "reads \($0.x) and \($0.y)" } ?? "reads nothing")
        }
        scenario.check {
            if let (x, y) = results.entries.first ?? nil, x != y {
                throw Fault("torn", "the reader gets \(x) and \(y), which no thread has written")
            }
        }
    }
}

/// The memory orderings of an answer that are stronger than necessary.
struct WeakerOrderings {
    let options: Exploration.Options
    let describe: (Scenario) -> Void

    /// A sentence for each ordering that could be weaker if all others stayed as they are.
    var remarks: [String] {
        let orderings = explore(options: options, describe).orderings
            .sorted { ($0.site?.line ?? 0) < ($1.site?.line ?? 0) }
        let remarks = orderings.compactMap { ordering in
            let weaker = ordering.strength.weaker.first { survives(with: ordering.with($0)) }
            return weaker.map { remark(on: ordering, $0) }
        }
        return remarks.count > 1
            ? remarks + ["Each of these holds while the others stay as they are."] : remarks
    }

    private func survives(with ordering: Exploration.Ordering) -> Bool {
        var options = options
        options.instead = ordering
        options.stopsAtFirstFailure = true
        return explore(options: options, describe).survives
    }

    private func remark(
        on ordering: Exploration.Ordering, _ weaker: Exploration.Ordering.Strength
    ) -> String {
        let place = ordering.site.map { "Line \($0.line)" } ?? "An operation"
        if ordering.isOfFence, weaker == .relaxed {
            return "\(place) could be left out: nothing needs this fence."
        }
        return "\(place) is stronger than necessary: `\(weaker)` suffices there."
    }
}

extension SourceText {
    private static let orderings = Set(
        Exploration.Ordering.Strength.allCases.map { "\($0)" })

    /// Why an answer may not be graded that differs from the stub in more than memory orderings and
    /// fences; `nil` if it does not.
    func objection(toMoreThanOrderingsOf stub: SourceText) -> String? {
        let (own, given) = (withoutOrderings, stub.withoutOrderings)
        guard own.map(\.text) != given.map(\.text) else { return nil }
        let first = zip(own, given).first { $0.text != $1.text }?.0 ?? own.last
        return "line \(first?.line ?? 1) differs from the stub in more than a memory ordering; in "
            + "this exercise you choose orderings, and may add fences"
    }

    /// Words that change nothing.
    private static let needless = [
        "AtomicLoadOrdering", "AtomicStoreOrdering", "AtomicUpdateOrdering", ";",
    ]

    /// The words without fences, and with the same word for each ordering.
    private var withoutOrderings: [Word] {
        var result: [Word] = []
        for word in words where !SourceText.needless.contains(word.text) {
            result.append(word)
            let end = result.suffix(4).map(\.text)
            if end.count == 4, end.starts(with: ["ordering", ":", "."]),
                SourceText.orderings.contains(end[3])
            {
                result[result.count - 1] = Word(text: "ordering", line: word.line)
            } else if result.suffix(7).map(\.text) == SourceText.fence {
                result.removeLast(7)
            }
        }
        return result
    }

    private static let fence = [
        "atomicMemoryFence", "(", "ordering", ":", ".", "ordering", ")",
    ]
}
