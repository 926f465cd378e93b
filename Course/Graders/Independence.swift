import RaceLab

/// Two threads that share nothing. Wherever one of them stops, the other one must be able to
/// finish. This finds a lock that both take. It does not find an atomic that both increment,
/// because no thread waits for it.
struct Independence {
    /// Has two threads. The first continues while the second stands still.
    let describe: (Scenario) -> Void
    /// The same, but the second thread uses many objects. This finds a lock of every fifth one.
    private let withMany: (Scenario) -> Void
    /// Has one thread, which uses an object, makes a note, and then uses others. Runs instead if
    /// the objects start threads or tasks: the order shows for which object each of these runs.
    private let inTurn: ((Scenario) -> Void)?
    private let goingOn = 0
    private let standingStill = 1

    /// The failure depends on where one thread stops, so no other interleavings are run to mark the
    /// step from which every interleaving fails.
    static var options: Exploration.Options {
        var options = Exploration.Options()
        options.marksPointOfNoReturn = false
        options.maximumSteps *= 4
        return options
    }

    /// - Parameter describe: receives how many objects the second thread uses.
    init(
        inTurn: ((Scenario) -> Void)? = nil, _ describe: @escaping (Scenario, Int) -> Void
    ) {
        self.inTurn = inTurn
        self.describe = { scenario in
            Patience.renew()
            describe(scenario, 1)
        }
        withMany = { describe($0, 32) }
    }

    func verdict() -> Requirement.Verdict {
        var options = Independence.options
        options.maximumInterleavings = 1
        let exploration = explore(options: options, describe)
        if let inconclusive = exploration.inconclusive { return .fails(Failure(inconclusive)) }
        if let finding = exploration.findings.first {
            return .fails(
                Failure(
                    reason: finding.word,
                    detail: "the two threads should share nothing, but: \(finding.sentence)",
                    showing: try? exploration.replay(finding.schedule)))
        }
        if exploration.threads.count > 2, let inTurn {
            return verdict(inTurn) { $0.kind == .note }
        }
        let steps = exploration.passingSchedule?.choices ?? []
        do throws(Exploration.ReplayError) {
            for stop in 1..<max(1, steps.count { $0 == standingStill }) {
                if let failure = try failure(after: stop, steps) { return .fails(failure) }
            }
            return verdict(withMany) { $0.thread == standingStill }
        } catch {
            if case .inconclusive(let reason) = error { return .fails(Failure(reason)) }
            return .fails(.doesNotRecur())
        }
    }

    /// A failure if the first thread has to wait for the second to continue.
    private func failure(
        after stop: Int, _ steps: [Int]
    ) throws(Exploration.ReplayError) -> Failure? {
        let beginning = Array(repeating: standingStill, count: stop)
        let others = steps.filter { $0 == goingOn }
        let rest = steps.filter { $0 == standingStill }.dropFirst(stop)
        do throws(Exploration.ReplayError) {
            _ = try Exploration.replay(
                Exploration.Schedule(beginning + others + rest), options: Independence.options,
                describe)
            return nil
        } catch {
            guard case .mismatch(let mismatch) = error else { throw error }
            if mismatch.isWaiting {
                // A lock that outlives its promises stays locked when this run has ended.
                return failure(try? interleaving(after: beginning), after: stop)
            }
            // The first thread takes other steps here than it does when it runs first.
            let trace = try interleaving(after: beginning)
            return waits(trace, after: stop) ? failure(trace, after: stop) : nil
        }
    }

    /// Whether the first thread reaches its end only after the second has continued.
    private func waits(_ trace: Exploration.Trace, after stop: Int) -> Bool {
        let threads = trace.steps.map(\.thread).dropFirst(stop)
        let end = threads.lastIndex(of: goingOn) ?? threads.startIndex
        return threads[..<end].contains(standingStill) || !trace.waiting.isEmpty
    }

    /// The findings of one interleaving, as far as one interleaving can show them.
    func complaints(of trace: Exploration.Trace) -> [String] {
        if !trace.findings.isEmpty { return trace.findings.map(\.description) }
        let beginning = trace.steps.map(\.thread).prefix { $0 == standingStill }
        for stop in 1..<(beginning.count + 1) {
            // The first thread must have run as far as it could.
            guard let own = try? interleaving(after: Array(beginning.prefix(stop))) else {
                continue
            }
            if own.schedule == trace.schedule, waits(own, after: stop) {
                return [failure(own, after: stop).detail]
            }
        }
        return []
    }

    /// Fails if a lock is taken for one object, or an actor is used, and for another object, too. A
    /// thread may have to wait there, even if the lab cannot stop another one in a critical section
    /// that is very short.
    ///
    /// - Parameter isOfOthers: `true` for the first step after the use of the first object.
    private func verdict(
        _ describe: @escaping (Scenario) -> Void, _ isOfOthers: (Exploration.Trace.Step) -> Bool
    ) -> Requirement.Verdict {
        var options = Independence.options
        options.maximumInterleavings = 1
        options.maximumSteps *= 32
        Patience.renew()
        let exploration = explore(options: options, describe)
        if let inconclusive = exploration.inconclusive { return .fails(Failure(inconclusive)) }
        guard exploration.findings.isEmpty, let schedule = exploration.passingSchedule,
            let steps = try? Exploration.replay(schedule, options: options, describe).steps
        else { return .fails(Failure(reason: "not explored", detail: "it fails alone")) }
        let first = steps.prefix { !isOfOthers($0) }
        let taken = Set(first.filter(\.isEntrance).map(\.object))
        let common = steps.dropFirst(first.count).first {
            $0.isEntrance && taken.contains($0.object)
        }
        guard let common else { return .holds(explored: nil) }
        let place = common.site.map { "at \($0.file):\($0.line), " } ?? ""
        let what = common.kind == .arrive ? "an actor is used" : "a lock is taken"
        return .fails(
            Failure(
                reason: "over-synchronized",
                detail: "\(place)\(what) that another object uses, too, although the two share "
                    + "nothing"))
    }

    private func interleaving(after beginning: [Int]) throws(Exploration.ReplayError)
        -> Exploration.Trace
    {
        try Exploration.replay(
            prefix: Exploration.Schedule(beginning), options: Independence.options, describe
        )
        .trace
    }

    private func failure(_ trace: Exploration.Trace?, after stop: Int) -> Failure {
        let place = trace.map { placeOfWaiting($0, after: stop) } ?? ""
        return Failure(
            reason: "over-synchronized",
            detail:
                "'first' waits\(place) until 'second' continues, although the two share nothing",
            showing: trace)
    }

    /// The line at which the first thread continues after it has waited.
    private func placeOfWaiting(_ trace: Exploration.Trace, after stop: Int) -> String {
        let rest = trace.steps.dropFirst(stop)
        let comeback = zip(rest, rest.dropFirst())
            .first { $0.thread == standingStill && $1.thread == goingOn }
        return comeback?.1.site.map { " at \($0.file):\($0.line)" } ?? ""
    }
}

extension Exploration.Trace.Step {
    /// Whether another thread may have to wait until this one leaves.
    fileprivate var isEntrance: Bool {
        [
            .lock, .tryLock, .sharedLock, .trySharedLock, .acquire, .tryAcquire, .queueUp, .arrive,
        ].contains(kind)
            // An answer is written in Swift.
            && site?.file.hasSuffix(".c") != true
    }
}
