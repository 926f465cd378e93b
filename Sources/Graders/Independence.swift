import RaceLab

/// Two threads with nothing in common. Wherever the one of them stops, the other one has to come to
/// its end: that a lock is taken by both would show in this, and an atomic that both count with, for
/// which nobody waits, would not.
struct Independence {
    /// Has two threads. The first is the one that goes on while the second stands still.
    let describe: (Scenario) -> Void
    private let goingOn = 0
    private let standingStill = 1
    /// What goes on a page. Of a longer interleaving there is the schedule.
    private let longestTable = 50

    /// What goes wrong here depends on one thread that stands still: no other interleaving is run.
    static var options: Options {
        var options = Options()
        options.marksPointOfNoReturn = false
        return options
    }

    init(_ describe: @escaping (Scenario) -> Void) {
        self.describe = { scenario in
            Patience.renew()
            describe(scenario)
        }
    }

    func verdict() -> Requirement.Verdict {
        var options = Options()
        options.maximumInterleavings = 1
        let report = explore(options: options, describe)
        if let obstacle = report.obstacle { return .fails(Failure(obstacle)) }
        if let finding = report.findings.first { return .fails(failure(finding)) }
        let steps = report.surviving?.choices ?? []
        do {
            for stop in 1..<max(1, steps.count { $0 == standingStill }) {
                if let failure = try failure(after: stop, steps) { return .fails(failure) }
            }
            if let site = try lockInCommon(steps) {
                return .fails(
                    Failure(
                        reason: "over-synchronised",
                        detail: "at \(site.file):\(site.line) 'second' takes the lock that 'first' "
                            + "has taken, although they share nothing"))
            }
            return .holds(explored: nil)
        } catch let obstacle as Obstacle {
            return .fails(Failure(obstacle))
        } catch {
            return .fails(Failure(reason: "not explored", detail: "\(error)"))
        }
    }

    /// If the one thread has to wait for the other to go on.
    private func failure(after stop: Int, _ steps: [Int]) throws -> Failure? {
        let beginning = Array(repeating: standingStill, count: stop)
        let others = steps.filter { $0 == goingOn }
        let rest = steps.filter { $0 == standingStill }.dropFirst(stop)
        do {
            _ = try replay(
                Schedule(beginning + others + rest), options: Independence.options, describe)
            return nil
        } catch let misfit as Misfit where misfit.isWaiting {
            // A lock that outlives its promises may be held for ever, now that this has ended.
            return failure(try? interleaving(after: beginning), after: stop)
        } catch is Misfit {
            // It has other steps to make when it does not come first.
            let trace = try interleaving(after: beginning)
            return waits(trace, after: stop) ? failure(trace, after: stop) : nil
        }
    }

    /// Whether the one thread comes to its end only after the other has gone on.
    private func waits(_ trace: Trace, after stop: Int) -> Bool {
        let threads = trace.steps.map(\.thread).dropFirst(stop)
        let end = threads.lastIndex(of: goingOn) ?? threads.startIndex
        return threads[..<end].contains(standingStill) || !trace.waiting.isEmpty
    }

    /// What is wrong with one interleaving, as far as one can show it.
    func complaints(of trace: Trace) -> [String] {
        if !trace.findings.isEmpty { return trace.findings.map(\.description) }
        let beginning = trace.steps.map(\.thread).prefix { $0 == standingStill }
        for stop in 1..<(beginning.count + 1) {
            // The one thread has to have gone on wherever it could.
            guard let own = try? interleaving(after: Array(beginning.prefix(stop))) else {
                continue
            }
            if own.schedule == trace.schedule, waits(own, after: stop) {
                return [failure(own, after: stop).detail]
            }
        }
        return []
    }

    /// A line at which the second thread takes a lock that the first one has taken before. It may
    /// hold it for a moment only, in which the lab cannot stop it, and yet the other has to wait.
    private func lockInCommon(_ steps: [Int]) throws -> Site? {
        let locks = try replay(Schedule(steps), options: Independence.options, describe).steps
            .filter { [.lock, .tryLock, .sharedLock, .trySharedLock].contains($0.kind) }
        let taken = Set(locks.filter { $0.thread == goingOn }.map(\.object))
        return locks.first { $0.thread == standingStill && taken.contains($0.object) }?.site
    }

    private func interleaving(after beginning: [Int]) throws -> Trace {
        try replay(beginning: Schedule(beginning), options: Independence.options, describe)
            .trace
    }

    private func failure(_ trace: Trace?, after stop: Int) -> Failure {
        let place = trace.map { placeOfWaiting($0, after: stop) } ?? ""
        var failure = Failure(
            reason: "over-synchronised",
            detail:
                "'first' has to wait\(place) until 'second' goes on, although they share nothing")
        failure.schedule = trace?.scheduleText
        if let trace, trace.steps.count <= longestTable {
            failure.table = trace.table(width: TableWidth.now)
        }
        return failure
    }

    /// The line that the one thread comes back to when the other has gone on.
    private func placeOfWaiting(_ trace: Trace, after stop: Int) -> String {
        let rest = trace.steps.dropFirst(stop)
        let comeback = zip(rest, rest.dropFirst())
            .first { $0.thread == standingStill && $1.thread == goingOn }
        return comeback?.1.site.map { " at \($0.file):\($0.line)" } ?? ""
    }

    private func failure(_ finding: Finding) -> Failure {
        var failure = Failure(
            reason: finding.word,
            detail: "they should share nothing, and yet: \(finding.sentence)")
        if let trace = try? replay(finding.schedule, options: Independence.options, describe) {
            failure.table = trace.table(width: TableWidth.now)
            failure.schedule = trace.scheduleText
        }
        return failure
    }
}
