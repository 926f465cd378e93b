/// What an exercise promises about the order of handlers.
struct PromiseRules: Hashable, Sendable {
    /// A handler that is registered while handlers are being called is called after all earlier
    /// ones have returned. Otherwise it may be called at once, or later.
    var takesTurns = false
    /// The handlers further down a chain are called in the turn of the `then` that leads to them.
    /// Otherwise the order of handlers is promised only for handlers of the same promise.
    var chainsInTurn = false
    /// With several threads, the order of handlers is compared, too.
    var ordersThreads = false
    /// What a function that returns the next value adds. (`Void` has no next value.)
    var increment = 10
}

/// A promise, as plain sequential code. Each thread of a program has a list of actions; an action
/// is atomic, and may add others. A handler's call is an action of its own, and so is each call
/// inside of it.
struct PromiseModel: Hashable {
    private struct Node: Hashable {
        var outcome: PromiseProgram.Outcome?
        /// In order of registration.
        var waiting: [Entry] = []
        /// To be called in any order.
        var added: [Entry] = []
        var isCalling = false
        /// The number of threads that call late handlers.
        var lateCallers = 0
    }

    private enum Entry: Hashable {
        case then(Int)
        case error(Int)
        /// Settles this promise with the outcome.
        case adopt(Int)
    }

    private enum Action: Hashable {
        case op(PromiseProgram.Op)
        case call(Int)
        case begin(Int, PromiseProgram.Outcome, isThen: Bool)
        case end(Int, PromiseProgram.Outcome, isThen: Bool)
        case settle(Int, PromiseProgram.Outcome)
        case drain(Int)
        case leave(Int)
    }

    private var nodes: [Node]
    /// The last action of each is the next. The threads of the program come first.
    private var threads: [[Action]]
    private var signals: [Int: Int] = [:]
    /// How many of the events that were seen are explained.
    private var ordered = 0
    private var explained: [Int]
    /// How many calls are explained that were not seen.
    private var lost = 0

    // MARK: Explaining what was seen

    /// What was seen in one run of a program.
    struct Seen: Hashable {
        /// The events whose order counts.
        var order: [PromiseEvent] = []
        /// All others: for each handler and reader, what it received.
        var received: [[PromiseProgram.Outcome?]]
        /// The result of the first promise when the program has ended, if it was read then.
        var final: PromiseProgram.Outcome??
    }

    /// What is compared. A run that cannot be explained is compared again in fewer respects.
    struct Comparison: Hashable {
        var order = true
        /// Otherwise a handler may be called before another one has returned.
        var ends = true
        var readers = true
        var values = true
        /// Otherwise a later settlement may replace the outcome.
        var settlesOnce = true
        /// Otherwise a call that settles a promise may return before its handlers are called.
        var waits = true
        /// Otherwise any call explains what was seen.
        var calls = true

        static let nothing = Comparison(order: false, readers: false, values: false, calls: false)
    }

    /// Whether some order of the actions leads to what was seen.
    static func explains(
        _ seen: Seen, of program: PromiseProgram, _ rules: PromiseRules,
        comparing comparison: Comparison = Comparison()
    ) -> Bool {
        let search = Search(program: program, rules: rules, seen: seen, comparison: comparison)
        return search.explanation(PromiseModel(program, slots: seen.received.count)) != nil
    }

    /// Whether some order of the actions leads to threads that wait forever.
    static func mayBlock(_ program: PromiseProgram, _ rules: PromiseRules) -> Bool {
        let search = Search(
            program: program, rules: rules, seen: Seen(of: program), comparison: .nothing)
        return search.mayBlock(PromiseModel(program, slots: search.seen.received.count))
    }

    /// The first handler that should have been called, too; `nil` if more calls explain nothing.
    static func lost(_ seen: Seen, of program: PromiseProgram, _ rules: PromiseRules) -> Int? {
        let silent = program.handlers.indices.dropFirst(program.roots).filter {
            seen.received[$0].isEmpty
        }
        for count in silent.indices {
            let search = Search(
                program: program, rules: rules, seen: seen,
                comparison: Comparison(order: false, readers: false, values: false))
            search.mayBeLost = count + 1
            if let explanation = search.explanation(
                PromiseModel(program, slots: seen.received.count))
            {
                return silent.first { explanation.explained[$0] > 0 }
            }
        }
        return nil
    }

    private final class Search {
        let program: PromiseProgram
        let rules: PromiseRules
        let seen: Seen
        let comparison: Comparison
        let isSequential: Bool
        /// How many of the lists of ``Seen/received`` are compared.
        let compared: Int
        /// How many handlers may have been called although no call was seen.
        var mayBeLost = 0
        private var inVain: Set<PromiseModel> = []
        private var visited = 0

        init(
            program: PromiseProgram, rules: PromiseRules, seen: Seen, comparison: Comparison
        ) {
            self.program = program
            self.rules = rules
            self.seen = seen
            self.comparison = comparison
            isSequential = program.isSequential
            compared =
                comparison.calls
                ? program.handlers.count + (comparison.readers ? program.readers : 0) : 0
        }

        func mayBlock(_ model: PromiseModel) -> Bool {
            if model.isComplete || !inVain.insert(model).inserted { return false }
            let next = model.threads.indices.filter { !model.threads[$0].isEmpty }
                .flatMap { model.alternatives($0, self) }
            return next.isEmpty || next.contains(where: mayBlock)
        }

        /// The state at the end of an order of the actions that leads to what was seen.
        func explanation(_ model: PromiseModel) -> PromiseModel? {
            if model.isComplete { return model.hasExplainedAll(of: self) ? model : nil }
            visited += 1
            // One thread usually has few alternatives.
            let remembers = !isSequential || visited > 1_000
            if remembers, inVain.contains(model) { return nil }
            for thread in model.threads.indices where !model.threads[thread].isEmpty {
                for next in model.alternatives(thread, self) {
                    if let end = explanation(next) { return end }
                }
            }
            if remembers { inVain.insert(model) }
            return nil
        }
    }

    private init(_ program: PromiseProgram, slots: Int) {
        nodes = Array(repeating: Node(), count: program.handlers.count)
        explained = Array(repeating: 0, count: slots)
        if program.isSequential {
            var actions: [Action] = []
            for (index, op) in (program.before + program.threads[0]).enumerated() {
                actions += [.call(index), .op(op)]
            }
            threads = [(actions + [.call(-1)]).reversed()]
        } else {
            // What runs before the threads is not ordered by calls, because it is not recorded.
            threads = program.threads.map { $0.reversed().map(Action.op) }
            threads.insert(program.before.reversed().map(Action.op), at: 0)
        }
    }

    private var isComplete: Bool { threads.allSatisfy(\.isEmpty) }

    private func hasExplainedAll(of search: Search) -> Bool {
        (search.seen.final == nil || !search.comparison.readers
            || search.seen.final! == nodes[0].outcome)
            && (!search.comparison.order || ordered == search.seen.order.count)
            && explained.indices.prefix(search.compared).allSatisfy {
                explained[$0] == search.seen.received[$0].count || isLost($0, search)
            }
    }

    /// Whether the call of this handler is one that was lost.
    private func isLost(_ slot: Int, _ search: Search) -> Bool {
        search.seen.received[slot].isEmpty && explained[slot] == 1
    }

    /// Accounts for an event. Returns `false` if it was not seen.
    private mutating func emit(_ event: PromiseEvent, _ search: Search) -> Bool {
        let slot: Int
        let value: PromiseProgram.Outcome?
        switch event {
        case .call, .ends: (slot, value) = (-1, nil)
        case .begins(let handler, let outcome): (slot, value) = (handler, outcome)
        case .reads(let reader, let outcome):
            (slot, value) = (search.program.slot(of: reader), outcome)
        }
        let isCompared =
            slot < search.compared
            && (search.comparison.values || slot >= search.program.handlers.count)
        if search.comparison.order, isOrdered(event, search) {
            guard ordered < search.seen.order.count else { return false }
            let next = search.seen.order[ordered]
            guard next == event || !isCompared && isSame(next, event) else { return false }
            ordered += 1
        }
        guard slot >= 0, slot < search.compared else { return true }
        let received = search.seen.received[slot]
        if received.isEmpty, explained[slot] == 0, lost < search.mayBeLost {
            explained[slot] = 1
            lost += 1
            return true
        }
        guard explained[slot] < received.count else { return false }
        guard !isCompared || received[explained[slot]] == value else { return false }
        explained[slot] += 1
        return true
    }

    private func isOrdered(_ event: PromiseEvent, _ search: Search) -> Bool {
        if case .ends = event, !search.comparison.ends { return false }
        if search.isSequential { return true }
        if case .reads = event { return false }
        return search.rules.ordersThreads
    }

    private func isSame(_ left: PromiseEvent, _ right: PromiseEvent) -> Bool {
        switch (left, right) {
        case (.begins(let left, _), .begins(let right, _)): left == right
        case (.reads(let left, _), .reads(let right, _)): left == right
        default: left == right
        }
    }

    // MARK: Actions

    private func alternatives(_ thread: Int, _ search: Search) -> [PromiseModel] {
        // What runs before the threads ends first.
        if !search.isSequential, thread > 0, thread <= search.program.threads.count,
            !threads[0].isEmpty
        {
            return []
        }
        var next = self
        switch next.threads[thread].removeLast() {
        case .call(let index):
            // The calls before it have called all handlers.
            let others = threads.indices.contains { $0 != thread && !threads[$0].isEmpty }
            if others { return [] }
            return next.emit(.call(index), search) ? [next] : []
        case .op(let op): return next.perform(op, thread, search)
        case .begin(let handler, let outcome, let isThen):
            guard next.emit(.begins(handler, outcome), search) else { return [] }
            next.threads[thread].append(.end(handler, outcome, isThen: isThen))
            for op in (search.program.handlers[handler]?.body ?? []).reversed() {
                next.threads[thread].append(.op(op))
            }
            return [next]
        case .end(let handler, let outcome, let isThen):
            guard next.emit(.ends(handler), search) else { return [] }
            guard isThen else { return [next] }
            return next.finish(handler, outcome, thread, search)
        case .settle(let promise, let outcome):
            return next.settle(
                promise, outcome, thread, search, mayMove: !search.rules.chainsInTurn)
        case .drain(let promise): return next.drain(promise, thread)
        case .leave(let promise): return next.leave(promise, thread)
        }
    }

    private mutating func perform(
        _ op: PromiseProgram.Op, _ thread: Int, _ search: Search
    ) -> [PromiseModel] {
        switch op {
        case .then(let promise, let handler):
            return register(.then(handler), promise, thread, search.rules)
        case .error(let promise, let handler):
            return register(.error(handler), promise, thread, search.rules)
        case .resolve(let promise, let outcome), .reject(let promise, let outcome):
            return settle(
                promise, outcome, thread, search, mayMove: !search.comparison.waits)
        case .read(let promise, let reader):
            guard emit(.reads(reader, nodes[promise].outcome), search) else { return [] }
        case .drop: break
        case .signal(let semaphore): signals[semaphore, default: 0] += 1
        case .wait(let semaphore):
            guard let count = signals[semaphore], count > 0 else { return [] }
            signals[semaphore] = count - 1
        }
        return [self]
    }

    /// - Parameter mayMove: whether the handlers may be called at another time, because no order is
    ///   promised between the handlers of two promises.
    private func settle(
        _ promise: Int, _ outcome: PromiseProgram.Outcome, _ thread: Int, _ search: Search,
        mayMove: Bool
    ) -> [PromiseModel] {
        let isFirst = nodes[promise].outcome == nil
        if !isFirst, search.comparison.settlesOnce { return [self] }
        var next = self
        next.nodes[promise].outcome = outcome
        if !nodes[promise].waiting.isEmpty {
            next.nodes[promise].isCalling = true
            if mayMove {
                next.threads.append([.drain(promise)])
            } else {
                next.threads[thread].append(.drain(promise))
            }
        }
        return isFirst ? [next] : [next, self]
    }

    private func register(
        _ entry: Entry, _ promise: Int, _ thread: Int, _ rules: PromiseRules
    ) -> [PromiseModel] {
        let node = nodes[promise]
        var later = self
        guard let outcome = node.outcome else {
            later.nodes[promise].waiting.append(entry)
            return [later]
        }
        if node.isCalling, rules.takesTurns {
            later.nodes[promise].waiting.append(entry)
            return [later]
        }
        var now = self
        if !node.isCalling {
            now.nodes[promise].lateCallers += 1
            now.threads[thread].append(.leave(promise))
        }
        now.start(entry, outcome, thread)
        guard node.isCalling || node.lateCallers > 0 else { return [now] }
        later.nodes[promise].added.append(entry)
        return [now, later]
    }

    private func drain(_ promise: Int, _ thread: Int) -> [PromiseModel] {
        var rest = self
        if nodes[promise].waiting.isEmpty, nodes[promise].added.isEmpty {
            rest.nodes[promise].isCalling = false
            return [rest]
        }
        var all: [PromiseModel] = []
        if !nodes[promise].waiting.isEmpty {
            let entry = rest.nodes[promise].waiting.removeFirst()
            rest.threads[thread].append(.drain(promise))
            rest.start(entry, nodes[promise].outcome!, thread)
            all.append(rest)
        }
        return all + takingAdded(promise, thread, andThen: .drain(promise))
    }

    private func leave(_ promise: Int, _ thread: Int) -> [PromiseModel] {
        var all = takingAdded(promise, thread, andThen: .leave(promise))
        // Another thread that calls late handlers may also call the ones that were added.
        if nodes[promise].added.isEmpty || nodes[promise].lateCallers > 1 {
            var rest = self
            rest.nodes[promise].lateCallers -= 1
            all.append(rest)
        }
        return all
    }

    private func takingAdded(
        _ promise: Int, _ thread: Int, andThen action: Action
    ) -> [PromiseModel] {
        nodes[promise].added.indices.map { index in
            var rest = self
            let entry = rest.nodes[promise].added.remove(at: index)
            rest.threads[thread].append(action)
            rest.start(entry, nodes[promise].outcome!, thread)
            return rest
        }
    }

    private mutating func start(
        _ entry: Entry, _ outcome: PromiseProgram.Outcome, _ thread: Int
    ) {
        switch entry {
        case .then(let handler):
            threads[thread].append(
                outcome >= 0
                    ? .begin(handler, outcome, isThen: true) : .settle(handler, outcome))
        case .error(let handler):
            if outcome < 0 { threads[thread].append(.begin(handler, outcome, isThen: false)) }
        case .adopt(let promise): threads[thread].append(.settle(promise, outcome))
        }
    }

    private mutating func finish(
        _ handler: Int, _ outcome: PromiseProgram.Outcome, _ thread: Int, _ search: Search
    ) -> [PromiseModel] {
        switch search.program.handlers[handler]!.effect {
        case .value, .text:
            threads[thread].append(.settle(handler, outcome + search.rules.increment))
        case .failure, .failureForPromise:
            threads[thread].append(.settle(handler, PromiseProgram.thrown(by: handler)))
        case .itself:
            threads[thread].append(.settle(handler, PromiseProgram.returnedItself))
        case .promise(let promise, _):
            return register(.adopt(handler), promise, thread, search.rules)
        }
        return [self]
    }
}
