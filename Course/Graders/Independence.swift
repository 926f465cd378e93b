import RaceLab

/// Two threads that share nothing. Wherever one of them stops, the other one must be able to
/// finish. This finds a lock that both take. It does not find an atomic that both increment,
/// because no thread waits for it.
struct Independence {
    /// Has two threads. The first continues while the second stands still.
    let describe: (Scenario) -> Void
    /// Runs the same functions one after the other, with a note between them. Used instead if they
    /// start threads or tasks, because the order tells which of the two each of these runs for.
    let inTurn: ((Scenario) -> Void)?
    private let goingOn = 0
    private let standingStill = 1
    /// The maximum number of rows in a table that is shown. For a longer interleaving only the
    /// schedule is reported.
    private let longestTable = 50

    /// The failure depends on where one thread stops, so no other interleavings are run to mark the
    /// step from which every interleaving fails.
    static var options: Exploration.Options {
        var options = Exploration.Options()
        options.marksPointOfNoReturn = false
        return options
    }

    init(
        inTurn: ((Scenario) -> Void)? = nil, _ describe: @escaping (Scenario) -> Void
    ) {
        self.inTurn = inTurn
        self.describe = { scenario in
            Patience.renew()
            describe(scenario)
        }
    }

    func verdict() -> Requirement.Verdict {
        var options = Independence.options
        options.maximumInterleavings = 1
        let exploration = explore(options: options, describe)
        if let inconclusive = exploration.inconclusive { return .fails(Failure(inconclusive)) }
        if let finding = exploration.findings.first {
            return .fails(failure(finding, in: exploration))
        }
        if exploration.threads.count > 2, let inTurn { return verdict(inTurn) }
        let steps = exploration.passingSchedule?.choices ?? []
        do throws(Exploration.ReplayError) {
            for stop in 1..<max(1, steps.count { $0 == standingStill }) {
                if let failure = try failure(after: stop, steps) { return .fails(failure) }
            }
            let trace = try Exploration.replay(
                Exploration.Schedule(steps), options: Independence.options, describe)
            return verdict(
                of: trace.steps.filter { $0.thread == goingOn },
                and: trace.steps.filter { $0.thread == standingStill })
        } catch {
            if case .inconclusive(let reason) = error { return .fails(Failure(reason)) }
            return .fails(
                Failure(
                    reason: "not deterministic",
                    detail: "the same calls took other steps when they were made again: something "
                        + "outlives the objects that were made for them"))
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

    /// Fails if the second thread takes a lock or arrives at an actor that the first one also uses.
    /// The lab may be unable to stop the thread in a critical section that is very short, but the
    /// other thread would still have to wait.
    private func verdict(
        of first: [Exploration.Trace.Step], and second: [Exploration.Trace.Step]
    ) -> Requirement.Verdict {
        let taken = Set(first.filter(\.isEntrance).map(\.object))
        let common = second.first { $0.isEntrance && taken.contains($0.object) }
        guard let common else { return .holds(explored: nil) }
        let place = common.site.map { "at \($0.file):\($0.line) " } ?? ""
        let what = common.kind == .arrive ? "comes to an actor" : "takes a lock"
        return .fails(
            Failure(
                reason: "over-synchronized",
                detail: "\(place)'second' \(what) that 'first' uses, too, although the two share "
                    + "nothing"))
    }

    private func verdict(_ inTurn: @escaping (Scenario) -> Void) -> Requirement.Verdict {
        var options = Independence.options
        options.maximumInterleavings = 1
        let exploration = explore(options: options, inTurn)
        if let inconclusive = exploration.inconclusive { return .fails(Failure(inconclusive)) }
        guard exploration.findings.isEmpty, let schedule = exploration.passingSchedule,
            let trace = try? Exploration.replay(schedule, options: options, inTurn),
            let middle = trace.steps.firstIndex(where: { $0.kind == .note })
        else { return .fails(Failure(reason: "not explored", detail: "it fails alone")) }
        return verdict(of: Array(trace.steps[..<middle]), and: Array(trace.steps[middle...]))
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
        var failure = Failure(
            reason: "over-synchronized",
            detail:
                "'first' waits\(place) until 'second' continues, although the two share nothing")
        failure.schedule = trace?.scheduleText
        if let trace, trace.steps.count <= longestTable {
            failure.table = trace.report(width: TableWidth.now)
        }
        return failure
    }

    /// The line at which the first thread continues after it has waited.
    private func placeOfWaiting(_ trace: Exploration.Trace, after stop: Int) -> String {
        let rest = trace.steps.dropFirst(stop)
        let comeback = zip(rest, rest.dropFirst())
            .first { $0.thread == standingStill && $1.thread == goingOn }
        return comeback?.1.site.map { " at \($0.file):\($0.line)" } ?? ""
    }

    private func failure(
        _ finding: Exploration.Finding, in exploration: Exploration
    ) -> Failure {
        var failure = Failure(
            reason: finding.word,
            detail: "the two threads should share nothing, but: \(finding.sentence)")
        if let trace = try? exploration.replay(finding.schedule) {
            failure.table = trace.report(width: TableWidth.now)
            failure.schedule = trace.scheduleText
        }
        return failure
    }
}

extension Exploration.Trace.Step {
    /// Whether another thread may have to wait until this one leaves.
    fileprivate var isEntrance: Bool {
        [.lock, .tryLock, .sharedLock, .trySharedLock, .arrive].contains(kind)
            // An answer is written in Swift.
            && site?.file.hasSuffix(".c") != true
    }
}
