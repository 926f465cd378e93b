import RaceLab

/// Two threads with nothing in common. Wherever the one of them stops, the other one has to come to
/// its end: that a lock is taken by both would show in this, and an atomic that both count with, for
/// which nobody waits, would not.
struct Independence {
    /// Has two threads. The first is the one that goes on while the second stands still.
    let describe: (Scenario) -> Void
    private let goingOn = 0
    private let standingStill = 1

    init(_ describe: @escaping (Scenario) -> Void) {
        self.describe = describe
    }

    func examination() -> Examination {
        var options = Options()
        options.maximumInterleavings = 1
        let report = explore(options: options, describe)
        if let obstacle = report.obstacle { return .fails(Failure(obstacle)) }
        if let finding = report.findings.first { return .fails(failure(finding)) }
        let steps = report.surviving?.choices ?? []
        do {
            for stop in 1..<max(1, steps.count { $0 == standingStill }) {
                if let trace = try waiting(after: stop, steps) { return .fails(failure(trace)) }
            }
            return .holds(explored: nil)
        } catch let obstacle as Obstacle {
            return .fails(Failure(obstacle))
        } catch {
            return .fails(Failure(reason: "not explored", detail: "\(error)"))
        }
    }

    /// The interleaving in which the one thread has to wait for the other to go on, if it has to.
    private func waiting(after stop: Int, _ steps: [Int]) throws -> Trace? {
        let beginning = Array(repeating: standingStill, count: stop)
        let others = steps.filter { $0 == goingOn }
        let rest = steps.filter { $0 == standingStill }.dropFirst(stop)
        do {
            _ = try replay(Schedule(beginning + others + rest), describe)
            return nil
        } catch is Misfit {
            // It waits, or has other steps to make: to find that out takes longer.
            let trace = try replay(beginning: Schedule(beginning), describe).trace
            let threads = trace.steps.map(\.thread).dropFirst(stop)
            let end = threads.lastIndex(of: goingOn) ?? threads.startIndex
            return threads[..<end].contains(standingStill) || !trace.waiting.isEmpty ? trace : nil
        }
    }

    private func failure(_ trace: Trace) -> Failure {
        let (one, other) = (trace.threads[goingOn], trace.threads[standingStill])
        var failure = Failure(
            reason: "over-synchronised",
            detail:
                "'\(one)' cannot come to its end before '\(other)' goes on, although they share "
                + "nothing: there is something that everybody has to wait for")
        failure.table = trace.table(width: 100)
        failure.schedule = trace.scheduleText
        return failure
    }

    private func failure(_ finding: Finding) -> Failure {
        var failure = Failure(
            reason: finding.word,
            detail: "they should share nothing, and yet: \(finding.sentence)")
        if let trace = try? replay(finding.schedule, describe) {
            failure.table = trace.table(width: 100)
            failure.schedule = trace.scheduleText
        }
        return failure
    }
}
