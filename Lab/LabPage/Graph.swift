import RaceLab

/// The states that a scenario can be in, and the steps that lead from one to the next.
///
/// Two states are merged if neither a possible continuation nor anything shown distinguishes them.
/// So every path from the root to a leaf is an interleaving with its verdict, and there are far
/// fewer states than steps in all interleavings.
struct Graph: Sendable {
    struct Edge: Hashable, Sendable {
        let label: Int
        let target: Int
    }

    struct Node: Hashable, Sendable {
        /// An index into ``Graph/states``; -1 if a lock is held, so that the state cannot be read.
        var state: Int
        /// An index into ``Graph/endings``; -1 if a thread can continue.
        var ending = -1
        var edges: [Edge] = []
    }

    /// A thread and one of its steps, counted from 0.
    struct Moment: Hashable, Sendable {
        let thread: Int
        let step: Int
    }

    struct Label: Hashable, Sendable {
        let thread: Int
        let kind: Exploration.Trace.Step.Kind
        /// The text in the tables of the lab: a line of source, or a note.
        let text: String
        let site: Exploration.Site?
        /// The name of the property or variable in the source.
        let name: String
        /// The instance that has it.
        var instance: Exploration.Trace.Instance?
        /// What the line does not show: the task that is resumed, or the actor at which a task
        /// arrives.
        let remark: String
        let failed: Bool
        let mark: Mark
        /// Which value of an atomic variable it reads, if it could read another one.
        let reads: Int?
        /// Whether there is a newer one.
        let isOld: Bool
        let locksHeld: Int
        /// For each other thread, its last conflicting step before this one: it accesses the same
        /// object, and at least one of the two modifies it.
        let conflicts: [Moment]
        /// Steps of other threads that happen before this one because of synchronization: the end
        /// of a critical section, a signal, an atomic write, work that was sent, a start.
        let after: [Moment]
        /// For each other thread, the step in which it last took the same lock.
        let taken: [Moment]
        /// Other steps that precede this one in every interleaving which differs only in the order
        /// of independent steps, although the steps that the page shows do not tell why.
        let hidden: [Moment]

        /// The identity of a step, whatever independent steps came before it.
        struct Identity: Hashable {
            let thread: Int
            let kind: Exploration.Trace.Step.Kind
            let text: String
            let site: Exploration.Site?
            let name: String
            let failed: Bool
            let mark: Mark
            let reads: Int?
            let conflicts: [Moment]
            let after: [Moment]
            let hidden: [Moment]
        }

        var identity: Identity {
            Identity(
                thread: thread, kind: kind, text: text, site: site, name: name, failed: failed,
                mark: mark, reads: reads, conflicts: conflicts, after: after, hidden: hidden)
        }
    }

    /// What a schedule says of a step beside its thread.
    enum Mark: Int, Hashable, Sendable {
        case none
        /// An attempt right before a release.
        case early
        /// The wait times out although other threads could continue.
        case timedOut
        /// A condition wakes the thread without a signal.
        case spurious

        /// The same in a schedule.
        var inSchedule: Exploration.Schedule.Mark? {
            switch self {
            case .none: nil
            case .early: .early
            case .timedOut: .timedOut
            case .spurious: .spurious
            }
        }
    }

    /// A thread that cannot continue, in an ending that is a deadlock.
    struct Waiting: Hashable, Sendable {
        let thread: Int
        let site: Exploration.Site?
        let text: String
        let instance: Exploration.Trace.Instance?
        /// Empty if it waits for a lock that was taken in a known step: the number of that step
        /// depends on the interleaving.
        let sentence: String
        /// The queue that it waits for, in words.
        let queue: String?
        /// The thread that holds what this one waits for.
        let holder: Int?
        let taken: Moment?
    }

    struct Ending: Hashable, Sendable {
        /// Indices into ``Graph/findings``.
        let findings: [Int]
        let hasRace: Bool
        let waiting: [Waiting]
    }

    struct Finding: Hashable, Sendable {
        let kind: Exploration.Finding.Kind
        let reason: String
    }

    var threads: [String] = []
    var columns: [String] = []
    /// For each column, the instances that it was seen to read.
    var columnInstances: [Set<Exploration.Trace.Instance>] = []
    var madeInSetUp: Set<Exploration.Trace.Instance> = []
    var states: [[String]] = []
    var labels: [Label] = []
    var endings: [Ending] = []
    var findings: [Finding] = []
    /// Each node comes after the targets of its edges. The last node is the root.
    var nodes: [Node] = []
}

extension Graph {
    /// Gives the labels that occur most the shortest numbers, which makes a page smaller.
    mutating func sortLabelsByUse() {
        var uses = [Int](repeating: 0, count: labels.count)
        for edge in nodes.lazy.flatMap(\.edges) { uses[edge.label] += 1 }
        let order = labels.indices.sorted { (uses[$1], $0) < (uses[$0], $1) }
        var places = uses
        for (place, label) in order.enumerated() { places[label] = place }
        labels = order.map { labels[$0] }
        for node in nodes.indices {
            nodes[node].edges = nodes[node].edges.map {
                Edge(label: places[$0.label], target: $0.target)
            }
        }
    }
}

/// Distinct values, numbered in the order in which they were added.
struct Interned<Value: Hashable> {
    private(set) var all: [Value] = []
    private var indices: [Value: Int] = [:]

    mutating func index(of value: Value) -> Int {
        if let index = indices[value] { return index }
        indices[value] = all.count
        all.append(value)
        return all.count - 1
    }
}
