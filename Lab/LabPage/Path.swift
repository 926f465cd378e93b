import RaceLab

/// One interleaving as a partial order: which steps conflict, and which happen before which. Steps
/// are identified by their thread, so the result does not depend on the order of independent steps.
struct Path {
    private let trace: Exploration.Trace
    /// For each step, its number among the steps of its thread.
    private let numbers: [Int]
    /// For each thread, the indices of its steps.
    private let stepsOf: [[Int]]

    init(_ trace: Exploration.Trace) {
        self.trace = trace
        var stepsOf = trace.threads.map { _ in [Int]() }
        var numbers: [Int] = []
        for (index, step) in trace.steps.enumerated() {
            numbers.append(stepsOf[step.thread].count)
            stepsOf[step.thread].append(index)
        }
        self.numbers = numbers
        self.stepsOf = stepsOf
    }

    private func moment(_ index: Int) -> Graph.Moment {
        Graph.Moment(thread: trace.steps[index].thread, step: numbers[index])
    }

    func label(of index: Int) -> Graph.Label {
        let step = trace.steps[index]
        let conflicts = lastOfOthers(before: index) { step.isDependent(on: $0) }
        let after = synchronized(index)
        return Graph.Label(
            thread: step.thread, kind: step.kind, text: step.text, site: step.site,
            name: step.accessedName(among: trace.columns), instance: step.instance,
            remark: step.remark(threads: trace.threads), failed: step.failed,
            mark: step.mark, reads: step.reads, isOld: step.old != nil, locksHeld: step.locksHeld,
            conflicts: conflicts, after: after,
            taken: step.takesLock ? lastOfOthers(before: index) { $0.takesLock && !$0.failed } : [],
            hidden: hidden(index, besides: conflicts + after))
    }

    /// The steps that precede a step although neither the steps shown nor their order tell why: the
    /// order of releases, for example, decides which thread runs a `deinit`.
    private func hidden(_ index: Int, besides known: [Graph.Moment]) -> [Graph.Moment] {
        let step = trace.steps[index]
        var covered = step.preceding.map { _ in 0 }
        func cover(_ index: Int) {
            for (thread, count) in trace.steps[index].preceding.enumerated()
            where thread < covered.count {
                covered[thread] = max(covered[thread], count)
            }
        }
        if numbers[index] > 0 { cover(stepsOf[step.thread][numbers[index] - 1]) }
        for moment in known { cover(stepsOf[moment.thread][moment.step]) }
        // A late step may cover earlier ones.
        let last = step.preceding.indices.filter { $0 != step.thread && step.preceding[$0] > 0 }
            .map { stepsOf[$0][step.preceding[$0] - 1] }.sorted(by: >)
        return last.compactMap { other in
            let moment = moment(other)
            guard covered[moment.thread] <= moment.step else { return nil }
            cover(other)
            return moment
        }.sorted { $0.thread < $1.thread }
    }

    /// For each other thread, its last step on the same object that satisfies the condition.
    private func lastOfOthers(
        before index: Int, where fits: (Exploration.Trace.Step) -> Bool
    ) -> [Graph.Moment] {
        indicesOfOthers(before: index, where: fits).map(moment)
    }

    private func indicesOfOthers(
        before index: Int, where fits: (Exploration.Trace.Step) -> Bool
    ) -> [Int] {
        let step = trace.steps[index]
        return stepsOf.indices.filter { $0 != step.thread }.compactMap { thread in
            for number in stepsOf[thread].reversed() where number < index {
                let other = trace.steps[number]
                if other.object == step.object, fits(other) { return number }
            }
            return nil
        }
    }

    private func synchronized(_ index: Int) -> [Graph.Moment] {
        let step = trace.steps[index]
        if step.failed && step.takesLock { return [] }
        switch step.kind {
        case .lock, .tryLock, .sharedLock, .trySharedLock:
            return indicesOfOthers(before: index) {
                $0.takesLock && !$0.failed && !($0.isShared && step.isShared)
            }.compactMap { release(of: $0, before: index) }.map(moment)
        case .atomicRead, .atomicWrite, .exchange:
            return lastOfOthers(before: index) {
                ($0.kind == .atomicWrite || $0.kind == .exchange && !$0.failed)
                    && step.isDependent(on: $0)
            }
        case .acquire, .tryAcquire:
            return step.failed ? [] : lastOfOthers(before: index) { $0.kind == .signal }
        case .receive:
            return lastOfOthers(before: index) { $0.kind == .send }
        default:
            return startOfThread(index)
        }
    }

    /// The start of the thread, if another thread started it and this is its first step.
    private func startOfThread(_ index: Int) -> [Graph.Moment] {
        let thread = trace.steps[index].thread
        guard numbers[index] == 0, trace.threads[thread] == "started thread \(thread + 1)"
        else { return [] }
        return trace.steps[..<index].lastIndex { $0.kind == .start }.map { [moment($0)] } ?? []
    }

    /// The last step before the thread releases the lock that it took in the step `index`.
    private func release(of index: Int, before end: Int) -> Int? {
        let own = stepsOf[trace.steps[index].thread]
        let number = numbers[index]
        let before = number == 0 ? 0 : trace.steps[own[number - 1]].locksHeld
        return own[number...].prefix { $0 < end }.first { trace.steps[$0].locksHeld <= before }
            ?? own[number...].last { $0 < end }
    }

    func waiting(_ waiting: Exploration.Trace.Waiting) -> Graph.Waiting {
        var holder: Int?
        var taken: Graph.Moment?
        switch waiting.cause {
        case .lock(let thread, let step):
            holder = thread
            taken = step.map(moment)
        case .end(let thread): holder = thread
        default: break
        }
        return Graph.Waiting(
            thread: waiting.thread, site: waiting.site, text: waiting.text,
            instance: waiting.instance,
            sentence: taken == nil ? waiting.sentence(threads: trace.threads) : "",
            queue: waiting.queue == nil ? nil : waiting.queueOrLock, holder: holder,
            taken: taken)
    }
}

extension Exploration.Trace.Step {
    /// Whether the order of two steps on the same object matters, as the lab defines it.
    fileprivate func isDependent(on other: Self) -> Bool {
        let ofEnds: Set<Kind> = [.finish, .ask]
        if kind == .finish && ofEnds.contains(other.kind) { return false }
        if other.kind == .finish && ofEnds.contains(kind) { return false }
        // What it reads is a choice of its own: it only has to come after the store that it reads.
        if let reads { return reads == other.stores }
        if other.reads != nil, stores != nil { return false }
        return !(kind.onlyReads && other.kind.onlyReads)
    }

    fileprivate var mark: Graph.Mark {
        if timedOut { return .timedOut }
        if spurious { return .spurious }
        return before == nil ? .none : .early
    }

    fileprivate var isShared: Bool { kind == .sharedLock || kind == .trySharedLock }
    fileprivate var takesLock: Bool {
        [.lock, .tryLock, .sharedLock, .trySharedLock].contains(kind)
    }

    /// The name of the accessed property or variable, if the source contains it as one word.
    fileprivate func accessedName(among known: [String]) -> String {
        guard let site, site.column > 0, [.read, .modify].contains(kind),
            let line = Sources.line(site.line, of: site.path)
        else { return "" }
        let characters = Array(line)
        var start = site.column - 1
        guard characters.indices.contains(start) else { return "" }
        func moveToWordBefore() {
            start -= 1
            while start > 0, !characters[start].isPartOfName { start -= 1 }
            while start > 0, characters[start - 1].isPartOfName { start -= 1 }
        }
        if "+-*/%&|^=?!".contains(characters[start]) {
            // An assignment or an optional: the name precedes the operator.
            moveToWordBefore()
        }
        if characters[start...].starts(with: "self.") { start += 5 }
        var name = String(characters[start...].prefix { $0.isPartOfName })
        let isCalled = characters[start...].dropFirst(name.count).first == "("
        if isCalled, start > 0, characters[start - 1] == "." {
            // A method call: the name precedes the dot.
            moveToWordBefore()
            name = String(characters[start...].prefix { $0.isPartOfName })
        }
        if !Self.keywords.contains(name) { return name }
        let words = line.split { !$0.isPartOfName }.map(String.init)
        return known.first(where: words.contains) ?? ""
    }

    private static let keywords: Set = [
        "case", "do", "for", "guard", "if", "in", "let", "return", "switch", "try", "var", "while",
    ]
}

extension Character {
    fileprivate var isPartOfName: Bool { isLetter || isNumber || self == "_" }
}
