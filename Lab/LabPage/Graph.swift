import RaceLab

/// The states that a scenario can be in, and the steps that lead from one to the next.
///
/// Two states are merged if neither a possible continuation nor anything shown distinguishes them.
/// So every path from the root to a leaf is an explored interleaving with its verdict, and there
/// are far fewer states than steps in all interleavings.
struct Graph: Sendable {
    struct Edge: Hashable, Sendable {
        let label: Int
        let target: Int
        /// Whether it leads to interleavings that ``RecordedExploration/exploration`` counts.
        let isCounted: Bool
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
        let instance: Exploration.Trace.Instance?
        /// What the line does not show: the task that is resumed, or the actor at which a task
        /// arrives.
        let remark: String
        let failed: Bool
        /// Whether it is an attempt right before a release, or waits for work that is ahead of it
        /// in a queue.
        let isEarly: Bool
        let locksHeld: Int
        /// For each other thread, its last conflicting step before this one: it accesses the same
        /// object, and at least one of the two modifies it.
        let conflicts: [Moment]
        /// Steps of other threads that happen before this one because of synchronization: the end
        /// of a critical section, a signal, an atomic write, work that was sent, a start.
        let after: [Moment]
        /// For each other thread, the step in which it last took the same lock.
        let taken: [Moment]
    }

    /// A thread that cannot continue, in an ending that is a deadlock.
    struct Waiting: Hashable, Sendable {
        let thread: Int
        let site: Exploration.Site?
        let text: String
        let instance: Exploration.Trace.Instance?
        let sentence: String
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
    fileprivate mutating func sortLabelsByUse() {
        var uses = [Int](repeating: 0, count: labels.count)
        for edge in nodes.lazy.flatMap(\.edges) { uses[edge.label] += 1 }
        let order = labels.indices.sorted { (uses[$1], $0) < (uses[$0], $1) }
        var places = uses
        for (place, label) in order.enumerated() { places[label] = place }
        labels = order.map { labels[$0] }
        for node in nodes.indices {
            nodes[node].edges = nodes[node].edges.map {
                Edge(label: places[$0.label], target: $0.target, isCounted: $0.isCounted)
            }
        }
    }
}

/// All interleavings, as a tree of steps, which is merged into a ``Graph``.
struct Tree {
    private struct Node {
        var state: Int
        var ending = -1
        var edges: [(key: Int, label: Int, child: Int, isCounted: Bool)] = []
    }

    private let failingKinds: Set<Exploration.Finding.Kind>
    private var nodes: [Node] = []
    private var graph = Graph()
    private var states = Interned<[String]>()
    private var labels = Interned<Graph.Label>()
    private var endings = Interned<Graph.Ending>()
    private var findings = Interned<Graph.Finding>()

    init(failingKinds: Set<Exploration.Finding.Kind>) {
        self.failingKinds = failingKinds
    }

    /// - Parameter isCounted: whether the exploration counts this interleaving.
    mutating func add(_ trace: Exploration.Trace, isCounted: Bool = true) {
        if trace.threads.count > graph.threads.count { graph.threads = trace.threads }
        graph.columns = trace.columns
        graph.madeInSetUp.formUnion(trace.madeInSetUp)
        for (column, instances) in trace.columnInstances.enumerated() {
            if column == graph.columnInstances.count { graph.columnInstances.append([]) }
            graph.columnInstances[column].formUnion(instances)
        }
        if nodes.isEmpty { nodes.append(Node(state: states.index(of: trace.initial))) }
        let path = Path(trace)
        var node = 0
        var isNew = false
        for (index, step) in trace.steps.enumerated() {
            let key = step.thread * 2 + (step.before == nil ? 0 : 1)
            if !isNew, let edge = nodes[node].edges.first(where: { $0.key == key }) {
                node = edge.child
                continue
            }
            isNew = true
            let label = labels.index(of: path.label(of: index))
            nodes[node].edges.append((key, label, nodes.count, isCounted))
            node = nodes.count
            nodes.append(Node(state: step.states.map { states.index(of: $0) } ?? -1))
        }
        nodes[node].ending = endings.index(of: ending(of: trace, path))
    }

    private mutating func ending(of trace: Exploration.Trace, _ path: Path) -> Graph.Ending {
        var judged: [Int] = []
        for finding in trace.findings where failingKinds.contains(finding.kind) {
            let index = findings.index(
                of: Graph.Finding(kind: finding.kind, reason: finding.reason))
            if !judged.contains(index) { judged.append(index) }
        }
        return Graph.Ending(
            findings: judged,
            hasRace: trace.findings.contains { [.dataRace, .overlap].contains($0.kind) },
            waiting: trace.waiting.map { path.waiting($0) })
    }

    /// The graph that results from merging equal subtrees, from the leaves up.
    func merged() -> Graph {
        var graph = graph
        var merged = Interned<Graph.Node>()
        var places = [Int](repeating: 0, count: nodes.count)
        // Children come after their parents.
        for index in nodes.indices.reversed() {
            let node = nodes[index]
            let edges = node.edges.sorted { $0.key < $1.key }.map {
                Graph.Edge(
                    label: $0.label, target: places[$0.child], isCounted: $0.isCounted)
            }
            places[index] = merged.index(
                of: Graph.Node(state: node.state, ending: node.ending, edges: edges))
        }
        graph.states = states.all
        graph.labels = labels.all
        graph.endings = endings.all
        graph.findings = findings.all
        graph.nodes = merged.all
        graph.sortLabelsByUse()
        return graph
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
