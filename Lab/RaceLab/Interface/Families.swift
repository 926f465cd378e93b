import CRaceLab
import Canaries
import Foundation

extension Exploration {
    /// A kind of operation that programs perform, and whether the lab observes it with the
    /// installed toolchain.
    public struct Family: Codable, Hashable, Sendable {
        /// For example `weak references`.
        public let name: String
        /// How the lab has noticed that it does not observe this; `nil` if it does.
        public let reason: String?
        /// Whether the lab notices that code under test uses the family. If it does not, no
        /// exploration in this process has a verdict.
        public let usesAreNoticed: Bool

        /// Whether the lab observes it.
        public var isObserved: Bool { reason == nil }
    }

    /// What the lab observes in this process: it explores a tiny program for each family, whose
    /// results are known. This happens once, before the first verdict, and takes less than a tenth
    /// of a second. Empty if the lab is ``unavailable``.
    ///
    /// Code under test that uses a family which is not observed gets no verdict, but
    /// ``Inconclusive/notObserved(family:place:)``.
    public static func families() -> [Family] { Families.probed() }
}

/// The families that the lab observes in this process.
enum Families {
    struct State {
        var known: [Exploration.Family]?
        /// Families whose canary has ended a child process.
        var deadly: [Canaries.Family: String] = [:]
    }

    /// Held while the process forks.
    static let state = ForkSafeLock(State())

    /// Runs the canaries once. In a child process, `tell` passes what they show to the parent.
    @discardableResult
    static func probed(tell: ((Message) -> Void)? = nil) -> [Exploration.Family] {
        guard Exploration.unavailable == nil else { return [] }
        rl_hold_explorations()
        defer { rl_release_explorations() }
        if let known = state.withLock({ $0.known }) { return known }
        let families = Canary.all.map { canary in
            if let reason = state.withLock({ $0.deadly[canary.family] }) {
                return Exploration.Family(
                    name: canary.family.rawValue, reason: reason, usesAreNoticed: true)
            }
            tell?(.probes(canary.family))
            return canary.probed()
        }
        tell?(.families(families))
        learn(families)
        return families
    }

    /// Takes over what a child process has found out.
    static func learn(_ families: [Exploration.Family]) {
        state.withLock { $0.known = families }
        for family in Canaries.Family.allCases {
            let isObserved = families.allSatisfy { $0.name != family.rawValue || $0.isObserved }
            if !isObserved { family.isNotObserved() }
        }
    }

    /// Records that a canary has ended a child process, so that it is not run again.
    static func avoid(_ family: Canaries.Family, _ reason: String) {
        state.withLock { $0.deadly[family] = reason }
    }

    /// Why no code under test has a verdict; `nil` if only uses of certain families have none.
    static var inconclusive: Exploration.Inconclusive? {
        state.withLock { $0.known }?.first { !$0.isObserved && !$0.usesAreNoticed }
            .map { .notObserved(family: $0.name, place: "") }
    }
}

// MARK: - The table

extension Canaries.Family {
    /// The entry points through which the lab observes the family.
    package var entryPoints: rl_family {
        switch self {
        case .properties, .capturedVariables, .globals, .genericProperties: RL_ACCESSES
        case .keyPaths: RL_KEY_PATHS
        case .lastingAccesses: RL_LASTING_ACCESSES
        case .relaxed, .acquireRelease, .exchanges, .sequentiallyConsistent: RL_ATOMICS
        case .fences: RL_FENCES
        case .mutex: RL_MUTEX
        case .pthreadLocks, .foundationLocks: RL_LOCKS
        case .queues: RL_QUEUES
        case .semaphores: RL_SEMAPHORES
        case .threads: RL_THREADS
        case .weakReferences: RL_WEAK_REFERENCES
        case .uniqueness: RL_UNIQUENESS
        case .releases, .deinitializers: RL_COUNTS
        case .tasks, .continuations: RL_TASKS
        case .actors: RL_ACTORS
        case .streams: RL_STREAMS
        }
    }

    /// What counts as a use: a call of one of these entry points. Only a task uses an actor, a
    /// continuation or a stream, and the library may do that for it. Every program retains and
    /// releases. Whether it depends on them, through a `deinit` that makes steps, cannot be told
    /// without observing them.
    var use: rl_family {
        switch self {
        case .actors, .continuations, .streams: RL_TASKS
        default: entryPoints
        }
    }

    /// From now on, code under test that uses the family has no verdict.
    fileprivate func isNotObserved() {
        if entryPoints == RL_COUNTS { return rl_distrust_counts(true) }
        // The engine keeps the name.
        rl_is_blind_to(use, strdup(rawValue))
    }
}

extension Canary {
    fileprivate func probed() -> Exploration.Family {
        let failure = failure(of: explored())
        var usesAreNoticed = true
        if failure != nil {
            // The canary itself uses the family, so now it has no verdict.
            family.isNotObserved()
            if case .notObserved = explored().inconclusive {} else { usesAreNoticed = false }
        }
        return Exploration.Family(
            name: family.rawValue, reason: failure, usesAreNoticed: usesAreNoticed)
    }

    private func explored() -> ExplorationResult {
        Explorer(Exploration.Options(), describe).explored()
    }

    /// How the results differ from the known ones; `nil` if they do not.
    private func failure(of result: ExplorationResult) -> String? {
        if let inconclusive = result.inconclusive { return "\(inconclusive)" }
        let kinds = result.found.all.map(\.kind)
        if let other = kinds.first(where: { ![.dataRace, .overlap].contains($0) }) {
            return "the lab finds a \(other.rawValue)"
        }
        let results = Results(Set(result.outcomes.keys), hasDataRace: !kinds.isEmpty)
        return results == expected ? nil : "the lab finds \(results) instead of \(expected)"
    }

    func describe(_ scenario: Scenario) {
        let run = begin()
        for (body, name) in zip(run.bodies, ["first", "second"]) {
            switch body {
            case .thread(let body): scenario.thread(name, body)
            case .task(let body): scenario.task(name, body)
            case .sender(let body):
                let queue = scenario.queue("queue")
                scenario.thread(name) { body { work in queue.async(work) } }
            }
        }
        scenario.outcome(run.outcome)
    }
}
