import Dispatch
import Foundation
import RaceLab
import Testing

/// Sleeps order nothing, but tasks wake up in the order of their times, and clocks go on.
@Suite("Sleeps", .needsTheLab)
struct SleepTests {
    private static let unreduced = Exploration.Options.with {
        $0.reduction = false
        $0.maximumInterleavings = 20_000
    }

    /// Explores with and without reduction, and returns the outcomes.
    private func outcomes(
        _ describe: @escaping @Sendable (Scenario) -> Void,
        _ place: Testing.SourceLocation = #_sourceLocation
    ) -> [String] {
        let exploration = explore(describe)
        let full = explore(options: Self.unreduced, describe)
        #expect(exploration.inconclusive == nil && full.coverage == .all, sourceLocation: place)
        #expect(
            exploration.outcomes.keys.sorted() == full.outcomes.keys.sorted(),
            sourceLocation: place)
        return exploration.outcomes.keys.sorted()
    }

    @Test("a task may begin after another one has slept for longer", arguments: 1...3, 1...3)
    func lateBeginning(_ first: Int, _ second: Int) {
        let found = outcomes { scenario in
            let (seen, lock) = (Seen(), NSLock())
            scenario.task("A") {
                lock.withLock { seen.note("A") }
                try await Task.sleep(for: .seconds(first))
            }
            scenario.task("B") {
                try await Task.sleep(for: .seconds(second))
                lock.withLock { seen.note("B") }
            }
            scenario.outcome { seen.text }
        }
        #expect(found == ["A B", "B A"])
    }

    @Test("three tasks that sleep, and then do something", arguments: [[1, 2, 3], [3, 3, 1]])
    func three(_ times: [Int]) {
        let found = outcomes { scenario in
            let (seen, lock) = (Seen(), NSLock())
            for (index, time) in times.enumerated() {
                scenario.task("\(index)") {
                    if index == 0 { lock.withLock { seen.note("first") } }
                    try await Task.sleep(for: .seconds(time))
                    lock.withLock { seen.note("\(index)") }
                }
            }
            scenario.outcome { seen.text }
        }
        #expect(found.count == 12)
    }

    enum Sleeper: CaseIterable { case task, thread }

    @Test("whether a time is over depends on who has slept", arguments: Sleeper.allCases)
    func clock(_ sleeper: Sleeper) {
        let found = outcomes { scenario in
            let (begin, seen) = (Date(), Seen())
            let (lock, other) = (NSLock(), NSLock())
            scenario.thread("A") {
                lock.lock()
                let over = Date().timeIntervalSince(begin) > 10
                lock.unlock()
                seen.note("\(over)")
            }
            switch sleeper {
            case .task: scenario.task("B") { try await Task.sleep(for: .seconds(20)) }
            case .thread:
                scenario.thread("B") {
                    other.withLock {}
                    Thread.sleep(forTimeInterval: 20)
                    other.withLock {}
                }
            }
            scenario.outcome { seen.text }
        }
        #expect(found == ["false", "true"])
    }

    enum Beginning: CaseIterable { case clock, dispatch, sleep }

    @Test("a thread may begin after another one has slept", arguments: Beginning.allCases)
    func lateStart(_ beginning: Beginning) {
        let found = outcomes { scenario in
            let (start, seen, lock) = (Date(), Seen(), NSLock())
            let soon = DispatchTime.now() + 10
            scenario.thread("sleeper") { Thread.sleep(forTimeInterval: 20) }
            scenario.thread("A") {
                if beginning == .sleep { usleep(1) }
                let isOver =
                    beginning == .dispatch
                    ? DispatchTime.now() > soon : Date().timeIntervalSince(start) > 10
                lock.withLock { seen.note("\(isOver)") }
            }
            scenario.outcome { seen.text }
        }
        #expect(found == ["false", "true"])
    }

    @Test("the step with which a thread begins has its line")
    func line() throws {
        let replay = try Exploration.replay(prefix: "") { scenario in
            scenario.thread("A") { Thread.sleep(forTimeInterval: 1) }
            scenario.task("B") { try await Task.sleep(for: .seconds(1)) }
            scenario.thread("C") { _ = DispatchTime.now() }
        }
        let lines = replay.trace.steps.filter { $0.kind == .begin }.map(\.text)
        #expect(
            lines == [
                #"scenario.thread("A") { Thread.sleep(forTimeInterval: 1) }"#,
                #"scenario.task("B") { try await Task.sleep(for: .seconds(1)) }"#,
                #"scenario.thread("C") { _ = DispatchTime.now() }"#,
            ])
    }

    @Test("sleeps that no one can tell apart are explored once")
    func cost() {
        let exploration = explore { scenario in
            for index in 0..<3 {
                scenario.thread("\(index)") {
                    NSLock().withLock {}
                    Thread.sleep(forTimeInterval: 1)
                }
            }
        }
        #expect(exploration.explored == 1 && exploration.redundant == 0)
    }

    @Test("a wait may time out before another thread begins")
    func timeOut() {
        let describe = { @Sendable (scenario: Scenario) in
            let (seen, lock, group) = (Seen(), NSLock(), DispatchGroup())
            let (semaphore, soon) = (DispatchSemaphore(value: 0), DispatchTime.now() + 1)
            scenario.thread("A") {
                lock.withLock { seen.note("A") }
                _ = semaphore.wait(timeout: soon)
            }
            scenario.thread("B") {
                group.enter()
                _ = group.wait(timeout: soon)
                lock.withLock { seen.note("B") }
                group.leave()
            }
            scenario.outcome { seen.text }
        }
        for reduces in [true, false] {
            var options = Exploration.Options()
            options.reduction = reduces
            options.timeOutsFireAtAnyTime = true
            let found = explore(options: options, describe).outcomes.keys.sorted()
            #expect(found == ["A B", "B A"], "\(reduces)")
        }
    }
}
