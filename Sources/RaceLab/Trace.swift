import CRaceLab
import Foundation

/// One interleaving, step by step.
///
/// It can be encoded, to hand it from one process to another; what others are to read is ``json``.
public struct Trace: Codable, Sendable {
    public struct Step: Codable, Sendable {
        public enum Kind: String, Codable, Sendable {
            case read, modify, lock, tryLock, atomicRead, atomicWrite, exchange, note
            case sharedLock, trySharedLock, wait, wake, acquire, tryAcquire, signal
            case start, join, send, receive, enter, leave, await, tryAwait, notify

            init(_ step: rl_step) {
                switch rl_kind(UInt32(step.kind)) {
                case RL_READ: self = .read
                case RL_MODIFY: self = .modify
                case RL_LOCK: self = .lock
                case RL_TRY_LOCK: self = .tryLock
                case RL_ATOMIC_READ: self = .atomicRead
                case RL_ATOMIC_WRITE: self = .atomicWrite
                case RL_EXCHANGE: self = .exchange
                case RL_SHARED_LOCK: self = .sharedLock
                case RL_TRY_SHARED_LOCK: self = .trySharedLock
                case RL_WAIT: self = .wait
                case RL_WAKE: self = .wake
                case RL_ACQUIRE: self = .acquire
                case RL_TRY_ACQUIRE: self = .tryAcquire
                case RL_SIGNAL: self = .signal
                case RL_START: self = .start
                case RL_JOIN: self = .join
                case RL_SEND: self = .send
                case RL_RECEIVE: self = .receive
                case RL_ENTER: self = .enter
                case RL_LEAVE: self = .leave
                case RL_AWAIT: self = .await
                case RL_TRY_AWAIT: self = .tryAwait
                case RL_NOTIFY: self = .notify
                default: self = .note
                }
            }
        }

        /// The index of the thread.
        public let thread: Int
        public let kind: Kind
        /// What it touches: within a trace the same number for the same thing.
        public let object: Int
        /// Where it happens; `nil` for a note.
        public let site: Site?
        /// The line of source, or what was noted.
        public internal(set) var text: String
        /// Whether it is a try for a lock, or a compare-and-exchange, that did not succeed.
        public let failed: Bool
        /// The thread that has not released the lock yet for which this is a failed attempt, although
        /// it is about to do nothing else: its next step comes after the release. Or the one that has
        /// sent work to a queue for which this step waits in vain. See ``Schedule``.
        public let before: Int?
        /// How many locks this thread holds when it is about to make its next step.
        public let locksHeld: Int
        /// The state after the step, one text for each of ``Trace/columns``; `nil` while somebody
        /// holds a lock, when nobody can look.
        public let states: [String]?
        /// What is to be said of this step.
        public internal(set) var mark: String?
    }

    public let threads: [String]
    /// The titles of the scenario's state columns.
    public let columns: [String]
    /// The state before the first step.
    public let initial: [String]
    public internal(set) var steps: [Step]
    /// What is wrong with this interleaving, the most telling first; empty if nothing is.
    public let findings: [Finding]
    /// What keeps threads from going on at the end; empty if every thread came to its end.
    public let waiting: [Waiting]

    public var schedule: Schedule {
        let early = steps.indices.filter { steps[$0].before != nil }
        return Schedule(steps.map(\.thread), early: Set(early))
    }

    /// The text with which ``replay(_:_:_:)-(String,_,_)`` reproduces the interleaving.
    public var scheduleText: String { schedule.text(threads: threads) }

    mutating func add(notes: [Int: String]) {
        for index in steps.indices where steps[index].kind == .note {
            steps[index].text = notes[index] ?? ""
        }
    }

    mutating func clearMarks() {
        for index in steps.indices { steps[index].mark = nil }
    }

    mutating func mark(step: Int, _ text: String) {
        guard steps.indices.contains(step), steps[step].mark == nil else { return }
        steps[step].mark = text
    }
}

extension Trace.Step {
    /// These steps, with their places in the source and, by their numbers, the states after them.
    static func all(
        of steps: some Collection<rl_step>, states: (Int) -> [String]?
    ) -> [Trace.Step] {
        let sites = Symbols.sites(of: steps)
        return zip(steps, objects(of: steps)).enumerated().map { index, pair in
            let (step, object) = pair
            let site = sites[UInt(step.pc)]
            return Trace.Step(
                thread: Int(step.thread), kind: Kind(step), object: object, site: site,
                text: site.flatMap { SourceText.line($0.line, of: $0.path) } ?? "",
                failed: step.failed, before: step.before < 0 ? nil : Int(step.before),
                locksHeld: Int(step.locks_held), states: states(index))
        }
    }

    /// What each of these touches, as a number.
    private static func objects(of steps: some Sequence<rl_step>) -> [Int] {
        var known: [UInt: Int] = [:]
        return steps.map { step in
            let address = UInt(step.address)
            let object = known[address] ?? known.count
            known[address] = object
            return object
        }
    }
}

extension Report {
    /// The shortest interleaving that shows the most telling finding, marked at the step after
    /// which every way on fails; `nil` if nothing was found.
    ///
    /// - Parameter finding: the one to show, instead of the most telling.
    public func counterexample(
        showing finding: Finding? = nil, options: Options = Options(),
        _ describe: @escaping (Scenario) -> Void
    ) throws -> Trace? {
        guard let finding = finding ?? findings.first else { return nil }
        if options.isolation == .childProcess {
            return try Isolated(options, describe).counterexample(of: self, showing: finding)
        }
        let schedule = finding.schedule
        var trace = try Explorer(options, describe).trace(of: schedule)
        guard ![.overlap, .dataRace].contains(finding.kind) else { return trace }
        if let step = Explorer(options, describe).pointOfNoReturn(of: schedule, finding.kind) {
            trace.clearMarks()
            trace.mark(step: step, "from here on every way fails")
        }
        return trace
    }
}

enum FileReadable {
    static func check(_ path: String) -> Bool {
        FileManager.default.isReadableFile(atPath: path)
    }
}
