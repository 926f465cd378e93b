import RaceLab

/// Builds the graph of every interleaving from one interleaving of each kind.
///
/// Interleavings of one kind differ only in the order of independent steps. So what can follow some
/// steps is known without running it: the next step of each recorded kind that allows these steps,
/// in any order of independent ones. Each such step is then run once, in an interleaving that
/// begins with the steps before it. All states and endings in the graph come from these runs.
struct Completion {
    /// Some steps that were taken, in any order of independent ones.
    private struct Place: Hashable {
        /// For each thread, the number of steps that it has taken.
        let counts: [Int]
        /// The kinds that begin with these steps.
        let kinds: [Int]
    }

    /// What a schedule says of a step.
    private struct Choice: Hashable {
        let thread: Int
        let mark: Graph.Mark
        /// See ``Graph/Label/reads``. In a node: only if the value is old there.
        let reads: Int?
    }

    private struct Node {
        let place: Place
        let state: Int
        var ending = -1
        /// The node before it, and the step that led here, to find the way to it again.
        let parent: (node: Int, choice: Choice)?
        var edges: [(event: Int, choice: Choice, label: Int, target: Int)] = []
    }

    /// The identity of a node: places with different states or endings are different nodes.
    private struct Identity: Hashable {
        let place: Place
        let state: Int
        let ending: Int
    }

    /// A step, whatever independent steps came before it.
    private struct Event {
        let identity: Int
        let choice: Choice
        /// The steps of other threads that have to precede it.
        let preceding: [Graph.Moment]
    }

    private struct Option {
        let event: Event
        let kinds: [Int]
    }

    /// A page with more states than this would be slow, and large.
    static let maximumNodes = 60_000

    private let failingKinds: Set<Exploration.Finding.Kind>
    /// For each kind and thread, the steps.
    private var kinds: [[[Event]]] = []
    private var nodes: [Node] = []
    private var indices: [Identity: Int] = [:]
    private var graph = Graph()
    private var states = Interned<[String]>()
    private var labels = Interned<Graph.Label>()
    private var events = Interned<Graph.Label.Identity>()
    private var endings = Interned<Graph.Ending>()
    private var findings = Interned<Graph.Finding>()
    /// Interleavings of kinds that were not recorded. There are some if whether two steps touch the
    /// same object depends on the order of others: an object may be made where another one was.
    private(set) var unknown: [Exploration.Trace] = []
    /// Whether all interleavings are in the graph: the limit on the number of states was not
    /// reached, and no two interleavings contradict each other. They would if steps depended on
    /// each other in a way that the lab does not see.
    private(set) var isComplete = true
    private let replay: (Exploration.Schedule) throws -> Exploration.Trace?

    /// - Parameter representatives: one interleaving of each kind.
    /// - Parameter replay: runs an interleaving that begins with a schedule; `nil` if none does.
    init(
        of representatives: [Exploration.Trace], failingKinds: Set<Exploration.Finding.Kind>,
        replay: @escaping (Exploration.Schedule) throws -> Exploration.Trace?
    ) {
        self.failingKinds = failingKinds
        self.replay = replay
        for trace in representatives { kinds.append(eventsOfThreads(in: trace)) }
        for trace in representatives { add(trace) }
        run()
    }

    /// Runs every step that is possible at a node and was not run from there yet.
    private mutating func run() {
        var index = 0
        while index < nodes.count {
            for option in options(at: nodes[index].place)
            where !nodes[index].edges.contains(where: { $0.event == option.event.identity }) {
                guard nodes.count < Completion.maximumNodes else { return isComplete = false }
                let beginning = way(to: index) + [option.event.choice]
                let rest = way(from: nodes[index].place, after: option)
                // A thread may have to wait for more than the order of the recorded steps shows. If
                // this step itself has to wait, the program cannot take it here.
                let trace = interleaving(beginning + rest) ?? interleaving(beginning)
                if let trace { add(trace) }
            }
            index += 1
        }
    }

    private func interleaving(_ beginning: [Choice]) -> Exploration.Trace? {
        try? replay(
            Exploration.Schedule(beginning.map(\.thread)) { step in
                let choice = beginning[step]
                return choice.mark.inSchedule ?? choice.reads.map { .old($0) }
            })
    }

    /// The steps that can follow.
    private func options(at place: Place) -> [Option] {
        var kindsOf: [(event: Event, kinds: [Int])] = []
        for kind in place.kinds {
            for (thread, events) in kinds[kind].enumerated()
            where place.counts[thread] < events.count {
                let event = events[place.counts[thread]]
                if let known = kindsOf.firstIndex(where: { $0.event.identity == event.identity }) {
                    kindsOf[known].kinds.append(kind)
                } else if event.preceding.allSatisfy({ place.counts[$0.thread] > $0.step }) {
                    kindsOf.append((event, [kind]))
                }
            }
        }
        return kindsOf.map { Option(event: $0.event, kinds: $0.kinds) }
    }

    private func way(to index: Int) -> [Choice] {
        var choices: [Choice] = []
        var node = nodes[index]
        while let parent = node.parent {
            choices.append(parent.choice)
            node = nodes[parent.node]
        }
        return choices.reversed()
    }

    /// The rest of an interleaving. A thread continues as long as it can: such runs together visit
    /// the other orders in few runs.
    private func way(from place: Place, after first: Option) -> [Choice] {
        var option = first
        var place = place
        var choices: [Choice] = []
        while true {
            let thread = option.event.choice.thread
            var counts = place.counts
            counts[thread] += 1
            place = Place(counts: counts, kinds: option.kinds)
            let next = options(at: place)
            guard
                let following = next.first(where: { $0.event.choice.thread == thread })
                    ?? next.first
            else { return choices }
            option = following
            choices.append(option.event.choice)
        }
    }

    // MARK: Recording

    private mutating func eventsOfThreads(in trace: Exploration.Trace) -> [[Event]] {
        let path = Path(trace)
        var result = trace.threads.map { _ in [Event]() }
        for (index, step) in trace.steps.enumerated() {
            let label = path.label(of: index)
            result[step.thread].append(
                Event(
                    identity: events.index(of: label.identity),
                    choice: Choice(thread: step.thread, mark: label.mark, reads: label.reads),
                    preceding: label.hidden + label.conflicts + label.after))
        }
        return result
    }

    /// Adds the steps of an interleaving to the graph, unless it is of an unknown kind.
    private mutating func add(_ trace: Exploration.Trace) {
        describe(trace)
        let path = Path(trace)
        let threads = kinds.map(\.count).max() ?? 0
        var place = Place(
            counts: [Int](repeating: 0, count: threads), kinds: Array(kinds.indices))
        var index = node(place, state: states.index(of: trace.initial), ending: -1, parent: nil)
        for (number, step) in trace.steps.enumerated() {
            let label = path.label(of: number)
            let event = events.index(of: label.identity)
            let choice = Choice(
                thread: step.thread, mark: label.mark, reads: label.isOld ? label.reads : nil)
            let position = place.counts[step.thread]
            let remaining = place.kinds.filter { kind in
                step.thread < kinds[kind].count && position < kinds[kind][step.thread].count
                    && kinds[kind][step.thread][position].identity == event
            }
            guard !remaining.isEmpty else { return unknown.append(trace) }
            var counts = place.counts
            counts[step.thread] += 1
            place = Place(counts: counts, kinds: remaining)
            let isLast = number == trace.steps.count - 1
            let target = node(
                place, state: step.states.map { states.index(of: $0) } ?? -1,
                ending: isLast ? endings.index(of: ending(of: trace, path)) : -1,
                parent: (index, choice))
            if let known = nodes[index].edges.first(where: { $0.choice == choice }) {
                // Otherwise the same steps would lead to two states.
                guard (known.event, known.target) == (event, target) else {
                    return isComplete = false
                }
            } else {
                nodes[index].edges.append((event, choice, labels.index(of: label), target))
            }
            index = target
        }
        if trace.steps.isEmpty { nodes[index].ending = endings.index(of: ending(of: trace, path)) }
    }

    private mutating func describe(_ trace: Exploration.Trace) {
        if trace.threads.count > graph.threads.count { graph.threads = trace.threads }
        graph.columns = trace.columns
        graph.madeInSetUp.formUnion(trace.madeInSetUp)
        for (column, instances) in trace.columnInstances.enumerated() {
            if column == graph.columnInstances.count { graph.columnInstances.append([]) }
            graph.columnInstances[column].formUnion(instances)
        }
    }

    private mutating func node(
        _ place: Place, state: Int, ending: Int, parent: (node: Int, choice: Choice)?
    ) -> Int {
        let identity = Identity(place: place, state: state, ending: ending)
        if let known = indices[identity] { return known }
        indices[identity] = nodes.count
        nodes.append(Node(place: place, state: state, ending: ending, parent: parent))
        return nodes.count - 1
    }

    private mutating func ending(of trace: Exploration.Trace, _ path: Path) -> Graph.Ending {
        var judged: [Int] = []
        for finding in trace.findings where failingKinds.contains(finding.kind) {
            let index = findings.index(
                of: Graph.Finding(kind: finding.kind, reason: finding.reason))
            if !judged.contains(index) { judged.append(index) }
        }
        // Equivalent interleavings find the same things, but not in the same order.
        return Graph.Ending(
            findings: judged.sorted { (findings.all[$0].kind, $0) < (findings.all[$1].kind, $1) },
            hasRace: trace.findings.contains { [.dataRace, .overlap].contains($0.kind) },
            waiting: trace.waiting.map { path.waiting($0) })
    }

    // MARK: The graph

    /// The graph, in which nodes with equal states and continuations are one.
    func merged() -> Graph {
        var graph = graph
        var merged = Interned<Graph.Node>()
        // An instance that stays with a thread of the lab from run to run is created in one of them
        // only. In the others the step has no instance, and then it is shown without one.
        let known = Set(labels.all)
        var shown = Interned<Graph.Label>()
        let shownLabels = labels.all.map { label in
            var bare = label
            bare.instance = nil
            return shown.index(of: known.contains(bare) ? bare : label)
        }
        var places = [Int](repeating: 0, count: nodes.count)
        let lengths = nodes.map { $0.place.counts.reduce(0, +) }
        // A node comes after those to which its steps lead.
        for index in nodes.indices.sorted(by: { (lengths[$0], $0) > (lengths[$1], $1) }) {
            let node = nodes[index]
            let edges = node.edges.sorted {
                ($0.choice.thread, $0.choice.mark.rawValue, $0.choice.reads ?? -1)
                    < ($1.choice.thread, $1.choice.mark.rawValue, $1.choice.reads ?? -1)
            }.map { Graph.Edge(label: shownLabels[$0.label], target: places[$0.target]) }
            places[index] = merged.index(
                of: Graph.Node(state: node.state, ending: node.ending, edges: edges))
        }
        graph.states = states.all
        graph.labels = shown.all
        graph.endings = endings.all
        graph.findings = findings.all
        graph.nodes = merged.all
        graph.sortLabelsByUse()
        return graph
    }
}
