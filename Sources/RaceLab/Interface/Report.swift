import CRaceLab

/// Something that an exploration has found.
public struct Finding: Codable, Sendable, CustomStringConvertible {
    public enum Kind: String, Codable, Sendable, CaseIterable, Comparable {
        /// The process came to its end: by a trap, such as `nil` where there must be a value or an
        /// index out of range, by a bad access, by a stack overflow, by `exit`. Found only with
        /// ``Options/Isolation/childProcess``; otherwise it is the process itself that ends.
        case crash
        /// A check did not hold.
        case failedCheck = "failed check"
        /// The body of a thread threw an error.
        case uncaughtError = "uncaught error"
        /// An interleaving ended in an outcome that the scenario forbids, or does not know.
        case forbiddenOutcome = "forbidden outcome"
        /// Some threads did not come to their end, and none of them could go on: each waits, or reads
        /// the same again and again.
        case deadlock
        /// The same, but some of them go round in loops in which they take locks, or attempt to, and
        /// nothing that they look at will ever change.
        case livelock
        /// A lock or a semaphore was used in a way that its documentation forbids: a lock was
        /// released that no thread held, or a semaphore was freed with a count below the one with
        /// which it was made.
        case misuse
        /// Two threads were in the middle of modifying the same thing: what one of them writes
        /// may be lost, or what comes out may be neither. It is a data race, too: it counts as a
        /// failure wherever one of these two kinds does.
        case overlap = "overlapping modification"
        /// Two accesses to the same thing, at least one of them a modification, and nothing that
        /// orders them: no lock, no atomic whose memory ordering does, no start or end of a thread.
        case dataRace = "data race"

        /// One bit for each, so that several of them fit into one number.
        var bit: UInt16 {
            switch self {
            case .crash: 1
            case .failedCheck: 2
            case .uncaughtError: 4
            case .forbiddenOutcome: 8
            case .deadlock: 16
            case .livelock: 32
            case .misuse: 64
            case .overlap: 128
            case .dataRace: 256
            }
        }

        public static func < (left: Kind, right: Kind) -> Bool { left.bit < right.bit }
    }

    let cause: Cause
    public var kind: Kind { cause.kind }
    /// What is wrong, in a sentence: for a failed check the one that it threw. Places in the source
    /// are looked up when this is asked for.
    public var reason: String { cause.reason }
    /// In how many of the interleavings explored.
    public let count: Int
    /// The interleaving that shows it with the fewest forced switches, that is, switches away from a
    /// thread that could have gone on; of those, the one with the fewest switches, and the shortest.
    public let schedule: Schedule

    init(_ cause: Cause, count: Int, schedule: Schedule) {
        self.cause = cause
        self.count = count
        self.schedule = schedule
    }

    public var description: String {
        kind == .failedCheck ? reason : "\(kind.rawValue): \(reason)"
    }

    // MARK: Between processes

    private enum Keys: CodingKey {
        case kind, reason, count, schedule
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        cause = .said(
            try values.decode(Kind.self, forKey: .kind),
            try values.decode(String.self, forKey: .reason))
        count = try values.decode(Int.self, forKey: .count)
        schedule = try values.decode(Schedule.self, forKey: .schedule)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Keys.self)
        try values.encode(kind, forKey: .kind)
        try values.encode(reason, forKey: .reason)
        try values.encode(count, forKey: .count)
        try values.encode(schedule, forKey: .schedule)
    }
}

/// Why an exploration says nothing about its scenario, or not everything.
public enum Obstacle: Error, Codable, Sendable, Hashable, CustomStringConvertible {
    /// The lab cannot work in this build.
    case unavailable(String)
    /// The scenario has no threads.
    case noThreads
    /// The scenario is described in a way that makes no sense, such as with two threads of one name;
    /// said in a sentence. None of its threads has run, unless it is one of them that adds another
    /// thread.
    case malformedScenario(String)
    /// In no interleaving does this thread touch anything that the lab can see, so that there is
    /// nothing to explore and a verdict would be worth nothing.
    case sawNothing(thread: String)
    /// An interleaving went on for more steps than allowed.
    case tooLong(steps: Int, schedule: String)
    /// A thread sleeps in something that the lab does not control.
    case blocked(thread: String, place: String)
    /// A thread runs on and on without touching anything that the lab can see.
    case runsOn(thread: String, place: String)
    /// More threads were started than the lab has room for.
    case tooManyThreads(thread: String)
    /// The code under test does something that the lab does not control, such as starting a task:
    /// what, and where.
    case uncontrolled(what: String, place: String)
    /// A child process did not come to its end in time, and was ended in this interleaving.
    case tookTooLong(limit: Duration, schedule: String)
    /// The same choices led elsewhere than before.
    case notDeterministic
    /// The same choices led elsewhere than before, likely because of this place in the source.
    case notDeterministicBecauseOf(place: String, text: String, reason: String)

    public var description: String {
        switch self {
        case .unavailable(let why):
            return why
        case .noThreads:
            return "the scenario has no threads: add two or three with scenario.thread(…)"
        case .malformedScenario(let what):
            return what
        case .sawNothing(let thread):
            return "the thread '\(thread)' touches nothing that the lab can see: is its code part "
                + "of this debug build, and does it use properties, captured variables, or a Mutex "
                + "in a target compiled with -sanitize=thread? "
                + "Timers and OperationQueue are not seen"
        case .tooLong(let steps, let schedule):
            return "an interleaving went on for more than \(numberOf(steps: steps)), beginning "
                + "\(schedule): look for a loop that does not end, or allow more with maximumSteps"
        case .blocked(let thread, let place):
            return "the thread '\(thread)' blocks \(place), in something that the lab does not "
                + "control: use something there that the lab sees (see Scenario; a Mutex only in a "
                + "target compiled with -sanitize=thread), or keep it out"
        case .runsOn(let thread, let place):
            return "the thread '\(thread)' runs on and on \(place) without touching anything that "
                + "the lab can see: look for a loop that does not end"
        case .tooManyThreads(let thread):
            return "the thread '\(thread)' starts one thread too many: the lab has room for "
                + "\(RL_MAX_THREADS), those of the scenario and its queues included"
        case .uncontrolled(let what, let place):
            return "\(place) \(what): the lab does not control that (see Scenario)"
        case .tookTooLong(let limit, let schedule):
            let place = schedule.isEmpty ? "" : ", in the interleaving that begins \(schedule)"
            return "the exploration did not come to its end within \(limit)\(place): explore less, "
                + "or allow more with timeLimit"
        case .notDeterministicBecauseOf(let place, let text, let reason):
            return "the same schedule led elsewhere than before; a likely cause is \(place), "
                + "`\(text)`: \(reason)"
        case .notDeterministic:
            return "the same schedule led elsewhere than before: the scenario depends on something "
                + "other than its threads, such as time, chance, or what an earlier run left behind"
        }
    }
}

/// What came of running a scenario under one interleaving after the other.
///
/// It can be encoded, to hand it from one process to another; what others are to read is ``json``.
public struct Report: Codable, Sendable {
    /// How much was explored.
    public enum Extent: Hashable, Codable, Sendable, CustomStringConvertible {
        case all
        case atMost(switches: Int)
        case first(Int)

        public var description: String {
            switch self {
            case .all: "all interleavings"
            case .atMost(switches: 0): "all interleavings without a forced switch"
            case .atMost(switches: 1): "all interleavings with at most one forced switch"
            case .atMost(let switches):
                "all interleavings with at most \(switches) forced switches"
            case .first(1): "the first interleaving only"
            case .first(let count): "the first \(count) interleavings"
            }
        }
    }

    /// Why not everything was explored.
    public enum Limit: String, Codable, Sendable, CaseIterable {
        case interleavings, runs, time
        case firstFailure = "first failure"

        var description: String {
            switch self {
            case .interleavings: "maximumInterleavings was reached"
            case .runs: "maximumRuns was reached"
            case .time: "maximumTime was over"
            case .firstFailure: "stopped at the first failure"
            }
        }
    }

    /// The names of the threads, in the order in which they were added. Those that were started
    /// by others follow, as many as there were at most.
    public let threads: [String]
    /// How many interleavings were explored.
    public let explored: Int
    /// How many were begun and found to be equivalent to one explored before.
    public let redundant: Int
    public let extent: Extent
    /// What ended the exploration early; `nil` if nothing did.
    public let limit: Limit?
    /// In how many of them something was found that is judged as a failure.
    public let failing: Int
    /// What was found and is judged as a failure, the most telling first.
    public let findings: [Finding]
    /// What else was found: of the kinds that ``Options/judging`` leaves out.
    public let remarks: [Finding]
    /// How many of the interleavings in which all checks held ended in each outcome.
    public let outcomes: [String: Int]
    /// The outcomes that the scenario declares, in the order in which it does.
    public let expectations: [ExpectedOutcome]
    /// The first interleaving in which nothing was found, if there is one.
    public let surviving: Schedule?
    /// Why the exploration says nothing about the scenario, if so.
    public let obstacle: Obstacle?
    /// The kinds of finding that count as a failure, see ``Options/judging``.
    public let judging: Set<Finding.Kind>
    /// Whether there were atomic operations that are not sequentially consistent. Their memory
    /// orderings count where data races are concerned, but their values are sequentially consistent
    /// all the same: an outcome that needs a reordered load or store is never reached.
    public let hasWeakOrderings: Bool
    /// Everything that was found, judged or not, and in how many interleavings.
    private let found: Found

    init(
        threads: [String], explored: Int, redundant: Int, extent: Extent, limit: Limit?,
        found: Found,
        judging: Set<Finding.Kind>, outcomes: [String: Int], expectations: [ExpectedOutcome],
        surviving: Schedule?, obstacle: Obstacle?, hasWeakOrderings: Bool = false
    ) {
        self.threads = threads
        self.explored = explored
        self.redundant = redundant
        self.extent = extent
        self.limit = limit
        self.found = found
        failing = found.count(ofAny: judging)
        let all = found.all(judgedBy: judging)
        findings = all.filter { judging.contains($0.kind) }
        remarks = all.filter { !judging.contains($0.kind) }
        self.judging = judging
        self.hasWeakOrderings = hasWeakOrderings
        self.outcomes = outcomes
        self.expectations = expectations
        self.surviving = surviving
        self.obstacle = obstacle
    }

    /// What the same exploration says if other kinds of finding count as a failure. Nothing is
    /// explored again.
    public func judged(by kinds: Set<Finding.Kind>) -> Report {
        Report(
            threads: threads, explored: explored, redundant: redundant, extent: extent,
            limit: limit, found: found, judging: kinds, outcomes: outcomes,
            expectations: expectations, surviving: surviving, obstacle: obstacle,
            hasWeakOrderings: hasWeakOrderings)
    }

    /// Whether every interleaving was explored, and nothing was found that counts as a failure. A
    /// report that was cut off by a bound does not survive, whatever it has found so far.
    public var survives: Bool { obstacle == nil && failing == 0 && extent == .all }

    /// In how many of the interleavings explored something of this kind was found, whether it counts
    /// as a failure or not.
    public func count(of kind: Finding.Kind) -> Int { found.count(ofAny: [kind]) }

    /// One line that says what came of it.
    public var summary: String {
        if let obstacle { return obstacle.description }
        guard let finding = findings.first else {
            return "\(survives ? "survives" : "no failure in") \(extent) (\(explored))"
        }
        return explored == 1
            ? "\(verdict): \(finding)" : "\(verdict); in \(finding.count) of them: \(finding)"
    }

    var verdict: String {
        if let obstacle { return "no verdict: \(obstacle)" }
        if failing == 0 { return survives ? "survives" : "no failure in \(extent)" }
        return explored == 1
            ? "fails in the one interleaving that was explored"
            : "fails in \(failing) of \(explored) interleavings"
    }
}

/// Everything that was found, the most telling first.
struct Found: Codable, Sendable {
    var all: [Finding] = []
    /// For each set of kinds, as bits, how many interleavings have shown just these.
    private var counts: [UInt16: Int] = [:]

    mutating func count(_ kinds: some Sequence<Finding.Kind>) {
        var bits: UInt16 = 0
        for kind in kinds {
            bits |= kind.bit
            if kind == .overlap { bits |= Finding.Kind.dataRace.bit }
        }
        if bits != 0 { counts[bits, default: 0] += 1 }
    }

    /// All of it, with an overlap as a data race where only those are judged.
    func all(judgedBy kinds: Set<Finding.Kind>) -> [Finding] {
        all.map {
            Finding($0.cause.judged(by: kinds), count: $0.count, schedule: $0.schedule)
        }
    }

    /// How many interleavings have shown any of these.
    func count(ofAny kinds: Set<Finding.Kind>) -> Int {
        let bits: UInt16 = kinds.reduce(0) { $0 | $1.bit }
        return counts.reduce(0) { $1.key & bits == 0 ? $0 : $0 + $1.value }
    }
}
