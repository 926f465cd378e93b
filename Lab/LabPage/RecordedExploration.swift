import RaceLab

/// All interleavings of one scenario, recorded so that a page can show them.
///
/// ```swift
/// let recorded = try RecordedExploration("two increments") { scenario in
///     let counter = Counter()
///     scenario.thread("first") { counter.increment() }
///     scenario.thread("second") { counter.increment() }
///     scenario.check { try Scenario.require(counter.value == 2, "an increment was lost") }
/// }
/// try recorded.html.write(to: url, atomically: true, encoding: .utf8)
/// ```
public struct RecordedExploration: Sendable {
    /// How much of an exploration is recorded.
    public enum Coverage: String, Sendable, Codable {
        /// Every interleaving.
        case all
        /// The interleavings of the first kinds in the order of exploration, and of the kind of the
        /// counterexample. Interleavings of one kind differ only in the order of independent steps.
        case first
    }

    /// A heading.
    public let title: String
    /// What the scenario does, in a sentence or two.
    public let story: String
    /// The exploration that was recorded.
    public let exploration: Exploration
    /// How much of the exploration is recorded.
    public let coverage: Coverage
    /// The command that replays an interleaving, without the schedule; `nil` if there is none.
    public let command: String?

    let graph: Graph

    /// Of more kinds of interleavings than this, only the first are recorded.
    public static let maximumKinds = 1_500
    /// How often interleavings are added that turn out to be of other kinds.
    private static let maximumRounds = 8

    /// Explores a scenario, and records it.
    ///
    /// The closures of the scenario run on threads of the lab. A scenario that crashes ends this
    /// process: ``Exploration/Options/isolation`` is not used here.
    ///
    /// - Throws: ``Exploration/Inconclusive`` if the exploration has no verdict.
    public init(
        _ title: String, story: String = "", options: Exploration.Options = Exploration.Options(),
        command: String? = nil,
        _ describe: @escaping (Scenario) -> Void
    ) throws {
        self.title = title
        self.story = story
        self.command = command
        var oneOfEach = options
        oneOfEach.isolation = .none
        oneOfEach.reduction = true
        oneOfEach.strategy = .exhaustive
        let exploration = explore(options: oneOfEach, describe)
        if let reason = exploration.inconclusive { throw reason }
        let recorder = Recorder(exploration)
        var traces: [Exploration.Trace] = []
        try recorder.visitKinds { trace in
            traces.append(trace)
            return traces.count < RecordedExploration.maximumKinds
        }
        let isWhole = exploration.coverage == .all && exploration.explored == traces.count
        if !isWhole, let finding = exploration.findings.first,
            let counterexample = try recorder.interleaving(beginningWith: finding.schedule)
        {
            traces.append(counterexample)
        }
        let complete = { (traces: [Exploration.Trace]) in
            Completion(
                of: traces, failingKinds: options.failingKinds,
                replay: recorder.interleaving(beginningWith:))
        }
        var completion = complete(traces)
        for _ in 0..<RecordedExploration.maximumRounds where !completion.unknown.isEmpty {
            traces += completion.unknown
            completion = complete(traces)
        }
        self.exploration = exploration
        let isComplete = completion.isComplete && completion.unknown.isEmpty
        coverage = isWhole && isComplete ? .all : .first
        graph = completion.merged()
    }

    /// A page that shows only this exploration, in one file that needs no network. A failing test
    /// can attach it:
    ///
    /// ```swift
    /// if exploration.failing > 0 {
    ///     Attachment.record(exploration.html, named: "two increments.html")
    /// }
    /// ```
    public var html: String {
        Page(self).html
    }
}
