import RaceLab

/// All interleavings of one scenario, recorded so that a page can show them.
///
/// ```swift
/// let exploration = try Exploration("two increments") { scenario in
///     let counter = Counter()
///     scenario.thread("first") { counter.increment() }
///     scenario.thread("second") { counter.increment() }
///     scenario.check { try require(counter.value == 2, "an increment was lost") }
/// }
/// try exploration.html.write(to: url, atomically: true, encoding: .utf8)
/// ```
public struct Exploration: Sendable {
    /// How much of it is recorded.
    public enum Coverage: String, Sendable, Codable {
        /// Every interleaving.
        case all
        /// One interleaving of each kind: others differ only in the order of independent steps.
        case kinds
        /// The first interleavings, in the order of context switches, and the shortest that fails.
        case first
    }

    /// A heading.
    public let title: String
    /// What the scenario does, in a sentence or two.
    public let story: String
    public let report: Report
    public let coverage: Coverage
    /// The command that replays an interleaving, without the schedule; `nil` if there is none.
    public let command: String?

    let graph: Graph
    /// One schedule of each kind.
    let kinds: [String]

    /// Above this many interleavings only one of each kind is recorded.
    public static let maximumInterleavings = 1_000

    /// Explores a scenario, and records it.
    ///
    /// The closures of the scenario run on threads of the lab. A scenario that crashes ends this
    /// process: ``Options/isolation`` is not used here.
    ///
    /// - Throws: ``Obstacle`` if the exploration says nothing about the scenario.
    public init(
        _ title: String, story: String = "", options: Options = Options(), command: String? = nil,
        _ describe: @escaping (Scenario) -> Void
    ) throws {
        self.title = title
        self.story = story
        self.command = command
        var all = options
        all.isolation = .none
        all.reduction = false
        all.maximumInterleavings = Exploration.maximumInterleavings
        var oneOfEach = options
        oneOfEach.isolation = .none
        oneOfEach.reduction = true
        let representatives = explore(options: oneOfEach, describe)
        if let obstacle = representatives.obstacle { throw obstacle }
        // Where there are so many kinds, there are even more interleavings.
        let isSmall = representatives.explored <= Exploration.maximumInterleavings
        let everything = isSmall ? explore(options: all, describe) : nil
        if let everything, everything.obstacle == nil, everything.extent == .all {
            report = everything
            coverage = .all
            graph = try Exploration.record(all, describe).graph
            kinds = try Exploration.record(oneOfEach, describe).schedules
        } else {
            report = representatives
            coverage = isSmall && report.extent == .all ? .kinds : .first
            oneOfEach.maximumInterleavings = Exploration.maximumInterleavings
            // The shortest counterexample need not be one of the representatives.
            let shortest = try report.counterexample(options: oneOfEach, describe)
            let recorded = try Exploration.record(
                oneOfEach, describe, adding: shortest, isCounted: coverage == .first)
            (graph, kinds) = (recorded.graph, recorded.schedules)
        }
    }

    private static func record(
        _ options: Options, _ describe: @escaping (Scenario) -> Void, adding extra: Trace? = nil,
        isCounted: Bool = true
    ) throws -> (graph: Graph, schedules: [String]) {
        var tree = Tree(judging: options.judging)
        var schedules = Interned<String>()
        try visitTraces(options: options, describe) { trace in
            tree.add(trace)
            _ = schedules.index(of: trace.scheduleText)
            return true
        }
        if let extra { tree.add(extra, isCounted: isCounted) }
        return (tree.merged(), schedules.all)
    }

    /// A page that shows this exploration and nothing else, in one file that needs no network. A test
    /// that fails can attach it:
    ///
    /// ```swift
    /// if exploration.report.failing > 0 {
    ///     Attachment.record(exploration.html, named: "two increments.html")
    /// }
    /// ```
    public var html: String {
        Page(title: title, explorations: ["": self]).html
    }
}
