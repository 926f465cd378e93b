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
        /// One interleaving of each kind. Interleavings of one kind differ only in the order of
        /// independent steps.
        case kinds
        /// The first interleavings in the order of exploration, and the counterexample.
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
    /// One schedule of each kind.
    let kinds: [String]

    /// With more interleavings than this, only one of each kind is recorded.
    public static let maximumInterleavings = 1_000

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
        var all = options
        all.isolation = .none
        all.reduction = false
        all.maximumInterleavings = RecordedExploration.maximumInterleavings
        var oneOfEach = options
        oneOfEach.isolation = .none
        oneOfEach.reduction = true
        let representatives = explore(options: oneOfEach, describe)
        if let reason = representatives.inconclusive { throw reason }
        // With too many kinds, there are even more interleavings, so do not try to record all of
        // them.
        let isSmall = representatives.explored <= RecordedExploration.maximumInterleavings
        let everything = isSmall ? explore(options: all, describe) : nil
        if let everything, everything.inconclusive == nil, everything.coverage == .all {
            exploration = everything
            coverage = .all
            graph = try RecordedExploration.record(everything).graph
            kinds = try RecordedExploration.record(representatives).schedules
        } else {
            exploration = representatives
            coverage = isSmall && representatives.coverage == .all ? .kinds : .first
            // The counterexample need not be one of the representatives.
            let shortest = try representatives.counterexample()
            let recorded = try RecordedExploration.record(
                representatives, adding: shortest, isCounted: coverage == .first)
            (graph, kinds) = (recorded.graph, recorded.schedules)
        }
    }

    private static func record(
        _ exploration: Exploration, adding extra: Exploration.Trace? = nil, isCounted: Bool = true
    ) throws -> (graph: Graph, schedules: [String]) {
        var tree = Tree(failingKinds: exploration.options.failingKinds)
        var schedules = Interned<String>()
        var count = 0
        try exploration.visitTraces { trace in
            tree.add(trace)
            _ = schedules.index(of: trace.scheduleText)
            count += 1
            return count < maximumInterleavings
        }
        if let extra { tree.add(extra, isCounted: isCounted) }
        return (tree.merged(), schedules.all)
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
        Page(title: title, explorations: ["": self]).html
    }
}
