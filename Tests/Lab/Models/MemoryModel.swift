/// The executions of a litmus program that RC11 allows (Lahav, Vafeiadis, Kang, Hur and Dreyer,
/// "Repairing Sequential Consistency in C/C++11", PLDI 2017), with the release sequences of C++20.
/// They are found by brute force: every order of the events, every store to read from, every place
/// in modification order; then the axioms of the paper decide. Nothing here is used by the lab.
package struct MemoryModel {
    package private(set) var outcomes: Set<String> = []
    package private(set) var hasRace = false
    /// How many execution graphs there are.
    package private(set) var graphs = 0

    private let program: LitmusProgram
    private let isInOrder: Bool
    private let obeysAxioms: Bool
    private var visited: Set<[UInt8]> = []

    /// - Parameters:
    ///   - isInOrder: program order, reads-from and modification order together have no cycle: a
    ///     store is never placed before one that was executed earlier.
    ///   - obeysAxioms: otherwise only program order and reads-from together have no cycle.
    package init(_ program: LitmusProgram, isInOrder: Bool, obeysAxioms: Bool = true) {
        self.program = program
        self.isInOrder = isInOrder
        self.obeysAxioms = obeysAxioms
        extend(ExecutionGraph(program))
    }

    private mutating func extend(_ graph: ExecutionGraph) {
        var isComplete = true
        for thread in program.threads.indices {
            guard let operation = graph.nextOperation(of: thread) else { continue }
            isComplete = false
            for next in graph.extensions(by: operation, of: thread, isInOrder: isInOrder)
            where visited.insert(next.key).inserted && (!obeysAxioms || next.isConsistent) {
                extend(next)
            }
        }
        guard isComplete else { return }
        graphs += 1
        outcomes.insert(graph.outcome)
        if graph.hasRace { hasRace = true }
    }
}

/// Events of some threads so far, which store each read reads from, and the modification order of
/// each variable.
private struct ExecutionGraph {
    struct Event {
        let thread: Int  // -1: initializes a variable
        let number: Int  // among the events of its thread
        var place: LitmusOperation.Place?
        var isFence = false
        var isPlain = false
        var read: Int?
        var written: Int?
        var ordering = MemoryOrdering.relaxed

        var isWrite: Bool { written != nil }
        var isSC: Bool { ordering == .sequentiallyConsistent }
    }

    private let program: LitmusProgram
    private var events: [Event] = []
    private var source: [Int?] = []  // for each event: the one that it reads from
    private var modifications: [[Int]]  // for each variable
    private var position: [Int]  // of each thread, in its program

    init(_ program: LitmusProgram) {
        self.program = program
        position = program.threads.map { _ in 0 }
        modifications = LitmusOperation.Place.allCases.map { _ in [] }
        for place in program.places {
            modifications[place.rawValue] = [events.count]
            add(Event(thread: -1, number: events.count, place: place, written: 0))
        }
    }

    private mutating func add(_ event: Event, from: Int? = nil) {
        events.append(event)
        source.append(from)
    }

    private func values(readBy thread: Int) -> [Int] {
        events.filter { $0.thread == thread && !$0.isPlain }.compactMap(\.read)
    }

    var outcome: String {
        LitmusProgram.outcome(
            read: program.threads.indices.map(values(readBy:)),
            last: program.places.map { place in
                (place, events[modifications[place.rawValue].last!].written!)
            })
    }

    /// Identifies the graph, in whatever order its events were added.
    var key: [UInt8] {
        func name(_ event: Int) -> UInt8 {
            UInt8(events[event].thread + 1) << 4 | UInt8(events[event].number)
        }
        let reads = events.indices.filter { source[$0] != nil }
            .map { (name($0), name(source[$0]!)) }.sorted { $0.0 < $1.0 }
        return position.map(UInt8.init) + reads.flatMap { [$0.0, $0.1] }
            + modifications.flatMap { [0xFF] + $0.map(name) }
    }

    // MARK: - The next event

    func nextOperation(of thread: Int) -> LitmusOperation? {
        let all = program.threads[thread]
        var next = position[thread]
        while next < all.count, case .onlyIf(let value) = all[next] {
            next += values(readBy: thread).last == value ? 1 : 2
        }
        return next < all.count ? all[next] : nil
    }

    private func advanced(_ thread: Int) -> ExecutionGraph {
        let all = program.threads[thread]
        var result = self
        while case .onlyIf(let value) = all[result.position[thread]] {
            result.position[thread] += values(readBy: thread).last == value ? 1 : 2
        }
        result.position[thread] += 1
        return result
    }

    func extensions(
        by operation: LitmusOperation, of thread: Int, isInOrder: Bool
    ) -> [ExecutionGraph] {
        let number = events.filter { $0.thread == thread }.count
        let base = advanced(thread)
        let event = Event(thread: thread, number: number)
        switch operation {
        case .load(let place, let ordering):
            return base.reading(event, place, ordering)
        case .store(let place, let value, let ordering):
            let count = modifications[place.rawValue].count
            return ((isInOrder ? count : 1)...count).map { index in
                base.writing(event, place, value, ordering, at: index)
            }
        case .exchange(let place, let value, let ordering):
            return base.exchanging(event, place, value, ordering, isInOrder) { _ in nil }
        case .compareExchange(let place, let expected, let desired, let ordering, let failing):
            return base.exchanging(event, place, desired, ordering, isInOrder) {
                $0 == expected ? nil : failing
            }
        case .fence(.relaxed):
            return [base]
        case .fence(let ordering):
            var fence = event
            fence.isFence = true
            fence.ordering = ordering
            return [base.with(fence)]
        case .write, .read:
            var access = event
            access.isPlain = true
            if operation == .write { access.written = 1 } else { access.read = 1 }
            return [base.with(access)]
        case .onlyIf:
            return []
        }
    }

    private func with(_ event: Event, from: Int? = nil) -> ExecutionGraph {
        var result = self
        result.add(event, from: from)
        return result
    }

    private func reading(
        _ event: Event, _ place: LitmusOperation.Place, _ ordering: MemoryOrdering
    ) -> [ExecutionGraph] {
        modifications[place.rawValue].map { store in
            var read = event
            read.place = place
            read.ordering = ordering
            read.read = events[store].written
            return with(read, from: store)
        }
    }

    private func writing(
        _ event: Event, _ place: LitmusOperation.Place, _ value: Int, _ ordering: MemoryOrdering,
        at index: Int, from: Int? = nil
    ) -> ExecutionGraph {
        var write = event
        write.place = place
        write.ordering = ordering
        write.written = value
        write.read = from.map { events[$0].written! }
        var result = with(write, from: from)
        result.modifications[place.rawValue].insert(events.count, at: index)
        return result
    }

    /// - Parameter fails: the ordering with which the exchange fails on a value, or nil.
    private func exchanging(
        _ event: Event, _ place: LitmusOperation.Place, _ value: Int, _ ordering: MemoryOrdering,
        _ isInOrder: Bool, fails: (Int) -> MemoryOrdering?
    ) -> [ExecutionGraph] {
        let stores = modifications[place.rawValue]
        return stores.enumerated().flatMap { index, store -> [ExecutionGraph] in
            if let failing = fails(events[store].written!) {
                return reading(event, place, failing).filter { $0.source.last! == store }
            }
            if isInOrder, index + 1 < stores.count { return [] }
            return [writing(event, place, value, ordering, at: index + 1, from: store)]
        }
    }

    // MARK: - The axioms

    private func related(_ isRelated: (Int, Int) -> Bool) -> Relation {
        var result = Relation(events.count)
        for from in events.indices {
            for to in events.indices where from != to && isRelated(from, to) {
                result[from, to] = true
            }
        }
        return result
    }

    private var programOrder: Relation {
        related { from, to in
            let (one, other) = (events[from], events[to])
            return one.thread < 0 && other.thread >= 0
                || one.thread == other.thread && one.thread >= 0 && one.number < other.number
        }
    }

    /// A write with release semantics, or a write after a release fence, synchronizes with a read
    /// with acquire semantics, or a read before an acquire fence, of its value or of a value in its
    /// release sequence.
    private func synchronizesWith(_ order: Relation) -> Relation {
        var result = Relation(events.count)
        for read in events.indices {
            guard let store = source[read] else { continue }
            var acquirers = events.indices.filter { order[read, $0] && isFence($0, \.acquires) }
            if events[read].ordering.acquires { acquirers.append(read) }
            var head: Int? = store
            while let write = head, events[write].thread >= 0 {
                var releasers = events.indices.filter {
                    order[$0, write] && isFence($0, \.releases)
                }
                if events[write].ordering.releases { releasers.append(write) }
                for from in releasers {
                    for to in acquirers where from != to { result[from, to] = true }
                }
                head = source[write]  // an exchange continues the release sequence
            }
        }
        return result
    }

    private func isFence(_ event: Int, _ has: (MemoryOrdering) -> Bool) -> Bool {
        events[event].isFence && has(events[event].ordering)
    }

    private var happensBefore: Relation {
        let order = programOrder
        return (order | synchronizesWith(order)).transitive
    }

    private var modificationOrder: Relation {
        var result = Relation(events.count)
        for order in modifications {
            for (index, earlier) in order.enumerated() {
                for later in order[(index + 1)...] { result[earlier, later] = true }
            }
        }
        return result
    }

    private var isAtomic: Bool {
        modifications.allSatisfy { order in
            zip(order, order.dropFirst()).allSatisfy { before, store in
                source[store].map { $0 == before } ?? true
            }
        }
    }

    var isConsistent: Bool {
        guard isAtomic else { return false }
        let (order, before) = (programOrder, happensBefore)
        let modified = modificationOrder
        let readsFrom = related { source[$1] == $0 }
        let readsBefore = related { from, to in
            source[from].map { modified[$0, to] } ?? false
        }
        let communication = (readsFrom | modified | readsBefore).transitive
        let isCoherent = events.indices.allSatisfy { from in
            !before[from, from]
                && events.indices.allSatisfy { !(before[from, $0] && communication[$0, from]) }
        }
        guard isCoherent else { return false }
        return isSequentiallyConsistent(order, before, modified, readsBefore, communication)
    }

    /// Whether the partial order of the sequentially consistent events (`psc`) has no cycle.
    private func isSequentiallyConsistent(
        _ order: Relation, _ before: Relation, _ modified: Relation, _ readsBefore: Relation,
        _ communication: Relation
    ) -> Bool {
        guard events.contains(where: \.isSC) else { return true }
        func isSamePlace(_ one: Int, _ other: Int) -> Bool {
            events[one].place != nil && events[one].place == events[other].place
        }
        let elsewhere = order.filter { !isSamePlace($0, $1) }
        let base =
            order | elsewhere * before * elsewhere | before.filter(isSamePlace) | modified
            | readsBefore
        var (access, fence) = (Relation(events.count), Relation(events.count))
        for (index, event) in events.enumerated() where event.isSC {
            if event.isFence { fence[index, index] = true } else { access[index, index] = true }
        }
        let (around, maybe) = (access | fence, before.reflexive)
        let ofAccesses = (around | fence * maybe) * base * (around | maybe * fence)
        let ofFences = fence * (before | before * communication * before) * fence
        return (ofAccesses | ofFences).isAcyclic
    }

    var hasRace: Bool {
        let before = happensBefore
        return events.indices.contains { one in
            events[one].isPlain && events[one].isWrite
                && events.indices.contains { other in
                    events[other].isPlain && events[other].thread != events[one].thread
                        && !before[one, other] && !before[other, one]
                }
        }
    }
}
