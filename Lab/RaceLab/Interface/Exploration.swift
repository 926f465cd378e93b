/// The result of running a scenario under one interleaving after another.
///
/// ``explore(options:_:)`` returns it. It keeps the scenario and the options, so it can also make
/// counterexamples and replays, and write itself as text or JSON.
public struct Exploration: Sendable {
    /// How much was explored.
    public enum Coverage: Hashable, Codable, Sendable, CustomStringConvertible {
        /// Every interleaving.
        case all
        /// Every interleaving with at most this many preemptions: see ``Options/preemptionBound``.
        case atMost(preemptions: Int)
        /// The first interleavings only; ``Exploration/limit`` has the reason.
        case first(Int)
        /// Interleavings that were drawn at random: see ``Options/Strategy``. The same one may have
        /// been drawn several times.
        case sampled(executions: Int)

        public var description: String {
            switch self {
            case .all: "all interleavings"
            case .atMost(preemptions: 0): "all interleavings without a preemption"
            case .atMost(preemptions: 1): "all interleavings with at most one preemption"
            case .atMost(let count): "all interleavings with at most \(count) preemptions"
            case .first(1): "the first interleaving only"
            case .first(let count): "the first \(count) interleavings"
            case .sampled(executions: 1): "one sampled execution"
            case .sampled(let count): "\(count) sampled executions"
            }
        }
    }

    /// Why not everything was explored.
    public enum Limit: String, Codable, Sendable, CaseIterable {
        /// ``Options/maximumInterleavings`` was reached.
        case interleavings = "maximumInterleavings was reached"
        /// ``Options/maximumRuns`` was reached.
        case runs = "maximumRuns was reached"
        /// ``Options/maximumTime`` has passed.
        case time = "maximumTime was over"
        /// An interleaving failed: see ``Options/stopsAtFirstFailure``.
        case firstFailure = "stopped at the first failure"
        /// A crash in a child process, of set-up for example, that the exploration cannot go past;
        /// or the 65th crash: see ``Options/Isolation``.
        case crash = "stopped at a crash"
    }

    let program: Program
    let result: ExplorationResult

    /// The number of interleavings with a finding that counts as a failure.
    public let failing: Int
    /// The findings that count as failures, the most informative first.
    public let findings: [Finding]
    /// The findings of the kinds that ``Options/failingKinds`` leaves out.
    public let otherFindings: [Finding]

    init(of program: Program, _ result: ExplorationResult) {
        self.program = program
        self.result = result
        let kinds = program.options.failingKinds
        failing = result.found.count(ofAny: kinds)
        let all = result.found.all(countedBy: kinds)
        findings = all.filter { kinds.contains($0.kind) }
        otherFindings = all.filter { !kinds.contains($0.kind) }
    }

    /// The options of the exploration. Every replay uses them, too.
    public var options: Options { program.options }
    /// The names of the threads, in the order in which they were added, followed by those of the
    /// threads that other threads have started, as many as in the interleaving with the most.
    public var threads: [String] { result.threads }
    /// How many interleavings were explored.
    public var explored: Int { result.explored }
    /// The number of runs that proved equivalent to an interleaving explored before.
    public var redundant: Int { result.redundant }
    /// How much was explored.
    public var coverage: Coverage { result.coverage }
    /// What ended the exploration early; `nil` if nothing did.
    public var limit: Limit? { result.limit }
    /// For each outcome, the number of interleavings that ended in it with all checks passed.
    public var outcomes: [String: Int] { result.outcomes }
    /// The outcomes that the scenario declares, in the order of declaration.
    public var expectations: [Scenario.ExpectedOutcome] { result.expectations }
    /// The first interleaving in which nothing was found, if there is one.
    public var passingSchedule: Schedule? { result.passingSchedule }
    /// Why the exploration has no verdict; `nil` if it has one.
    public var inconclusive: Inconclusive? { result.inconclusive }
    /// Whether there were atomic operations that are not sequentially consistent.
    public var hasWeakOrderings: Bool { result.hasWeakOrderings }
    /// What their loads could read: with ``Options/Memory/weak``, every value that the orderings
    /// allow.
    public var memory: Options.Memory { result.memory }

    /// The seed of the random numbers that the code under test has drawn, see
    /// ``Options/randomSeed``; `nil` if it has drawn none.
    public var randomSeed: UInt64? { result.randomSeed }

    /// Returns the same exploration with other kinds of finding counted as failures. Nothing is
    /// explored again.
    public func countingAsFailures(_ kinds: Set<Finding.Kind>) -> Exploration {
        var program = program
        program.options.failingKinds = kinds
        return Exploration(of: program, result)
    }

    /// Whether every interleaving was explored, and no finding counts as a failure. The value is
    /// `false` if a bound has cut off the exploration, or if the code under test has drawn random
    /// numbers, even if nothing was found.
    public var survives: Bool {
        inconclusive == nil && failing == 0 && coverage == .all && randomSeed == nil
    }

    /// Counts the interleavings with a finding of this kind, whether it counts as a failure or not.
    public func count(of kind: Finding.Kind) -> Int { result.found.count(ofAny: [kind]) }

    /// The verdict, and the most informative finding, in one line.
    public var summary: String {
        if let inconclusive { return inconclusive.description }
        guard let finding = findings.first else {
            if result.sample != nil { return verdict }
            return "\(survives ? "survives" : "no failure in") \(coverage) (\(explored))\(numbers)"
        }
        return explored == 1 || limit == .firstFailure
            ? "\(verdict): \(finding)" : "\(verdict); in \(finding.count) of them: \(finding)"
    }

    private var numbers: String {
        randomSeed.map { ", with the random numbers of seed \($0)" } ?? ""
    }

    var verdict: String {
        if let inconclusive { return "no verdict: \(inconclusive)" }
        if failing == 0 { return survives ? "survives" : "no failure in \(coverage)\(numbers)" }
        if result.sample != nil {
            return limit == .firstFailure
                ? "first failure in sampled execution \(explored)"
                : "fails in \(failing) of \(coverage)"
        }
        if limit == .firstFailure { return "first failure in interleaving \(explored)" }
        return explored == 1
            ? "fails in the one interleaving that was explored"
            : "fails in \(failing) of \(explored) interleavings"
    }
}

/// The result of an exploration without its scenario, so that a child process can send it to its
/// parent.
struct ExplorationResult: Codable, Sendable {
    var threads: [String] = []
    var explored = 0
    var redundant = 0
    var coverage = Exploration.Coverage.first(0)
    var limit: Exploration.Limit?
    var found = Found()
    var outcomes: [String: Int] = [:]
    var expectations: [Scenario.ExpectedOutcome] = []
    var passingSchedule: Exploration.Schedule?
    var inconclusive: Exploration.Inconclusive?
    var hasWeakOrderings = false
    var orderings: [Exploration.Ordering] = []
    var randomSeed: UInt64?
    var memory = Exploration.Options.Memory.weak
    /// Whether the engine started over after it had reported an interleaving.
    var startedOver = false
    /// `nil`: nothing was drawn at random.
    var sample: Exploration.Sample?
    /// `nil` unless a bound was reached.
    var covered: Exploration.Covered?
}
