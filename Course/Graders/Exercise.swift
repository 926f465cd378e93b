import SharedSuite

/// A task for the reader, and the requirements by which its answers are judged.
public struct Exercise: Sendable {
    public let number: Int
    public let title: String
    /// The chapter of the Tutorial that leads to it; `nil`: Appendix D.
    public let chapter: Int?
    /// The files in `Adapters` that connect an answer to the requirements.
    let adapters: [String]
    /// The hints, from vague to specific. None of them gives the answer away.
    public let hints: [String]
    /// Shown when the exercise is solved: what other correct answers look like.
    public let afterword: String
    /// What its answers may not use, in addition to ``Forbidden/anywhere``: the finished operator,
    /// for example.
    var forbidden: [Forbidden] = []
    /// What an answer has to satisfy, the simplest first. The first unmet requirement is reported.
    public let requirements: [Requirement]
}

extension Exercise {
    /// Of an answer that is a promise class.
    static let promise = ["Promise", "ThePromise", "Handle"]

    /// All exercises, in the order of the course.
    public static let all: [Exercise] = [
        beTheScheduler, keepBothHandlers, settleOnce, flatten, lockIt, doNotCallOut, keepTheOrder,
        allOfThem, firstOfThem, again, toldToStop, findTheBug, sellEachSeatOnce,
        asWeakAsPossible,
    ]

    public init?(number: Int) {
        guard let exercise = Exercise.all.first(where: { $0.number == number }) else { return nil }
        self = exercise
    }

    /// The name of its file in a workbook, without the extension: `Exercise05`.
    public var name: String { number < 10 ? "Exercise0\(number)" : "Exercise\(number)" }

    /// Whether its answers use the promise of Stage 3, and may import it.
    var usesStage3: Bool { (8...11).contains(number) }

    /// Whether its requirements run tasks, which the lab explores on Linux only.
    var usesTasks: Bool { number == 13 }

    /// - Parameter id: with the number of a program, if it has several: `E07.2/135`.
    public func requirement(_ id: String) -> Requirement? {
        let parts = id.split(separator: "/", maxSplits: 1)
        guard let name = parts.first?.lowercased(),
            let found = requirements.first(where: { $0.id.lowercased() == name })
        else { return nil }
        return parts.count == 1 ? found : Int(parts[1]).map(found.only)
    }
}
