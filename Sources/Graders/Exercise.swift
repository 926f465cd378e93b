import SharedSuite

/// A task for the reader, and how its answers are judged.
public struct Exercise: Sendable {
    public let number: Int
    public let title: String
    /// The chapter of the Tutorial that leads to it.
    public let chapter: Int
    /// One hint after the other. Each says a little more, and none of them the answer.
    public let hints: [String]
    /// What is shown when it is solved: what a different right answer looks like.
    public let afterword: String
    /// What an answer has to satisfy, the plainest first. The first that fails is told.
    public let requirements: [Requirement]
    /// What its sources may not use, besides ``SourceRules/forbidden``: the finished thing, for one.
    let forbidden: [SourceRules.Forbidden]
    /// The files that tie an answer to the requirements: in `Adapters`.
    let adapters: [String]

    init(
        _ number: Int, _ title: String, chapter: Int, adapter adapters: String..., hints: [String],
        afterword: String, forbidden: [SourceRules.Forbidden] = [], requirements: [Requirement]
    ) {
        self.number = number
        self.title = title
        self.chapter = chapter
        self.adapters = adapters
        self.hints = hints
        self.afterword = afterword
        self.forbidden = forbidden
        self.requirements = requirements
    }

    /// All of them, in the order of the course.
    public static let all: [Exercise] = [
        beTheScheduler, keepBothHandlers, settleOnce, flatten, lockIt, doNotCallOut, keepTheOrder,
        allOfThem, firstOfThem, again, toldToStop, findTheBug,
    ]

    public init?(number: Int) {
        guard let exercise = Exercise.all.first(where: { $0.number == number }) else { return nil }
        self = exercise
    }

    /// The name of its file in a workbook, without the extension: `Exercise05`.
    public var name: String { number < 10 ? "Exercise0\(number)" : "Exercise\(number)" }

    /// Whether its answers are written with the promise of Stage 3, and may import it.
    var usesStage3: Bool { (8...11).contains(number) }

    public func requirement(_ id: String) -> Requirement? {
        requirements.first { $0.id.lowercased() == id.lowercased() }
    }
}
