#if os(Linux)
    import Foundation
    import RaceLab
    import Testing

    /// Which of two delays ends first: those of tasks that sleep, and of work that is sent with a
    /// delay.
    @Suite("Delays", .needsTheLab)
    struct DelayTests {
        @Test("have their known results", arguments: programs)
        func known(_ program: KnownProgram) { program.check() }

        private static let programs: [KnownProgram] = [
            delayed("the longer one is sent first", [10, 1], outcomes: ["1 10", "10 1"]),
            delayed("the shorter one is sent first", [1, 10], outcomes: ["1 10"]),
            delayed("they are equally long", [3, 3], outcomes: ["3 3"]),
            delayed("there are three", [1, 2, 3], outcomes: ["1 2 3"]),
            delayed("the thread sleeps between", [6, 1], sleep: 7, outcomes: ["6 1"]),
            delayed("the thread sleeps for less", [6, 1], sleep: 4, outcomes: ["1 6", "6 1"]),
            duringSetUp([1, 10], outcomes: ["1 10"]),
            duringSetUp([10, 1], outcomes: ["1 10", "10 1"]),
            program("during the setup, and by a thread", outcomes: ["1 2", "2 1"]) {
                scenario, log in
                log.send(after: 2)
                scenario.thread("sends") { log.send(after: 1) }
            },
            program("two threads send independently", outcomes: ["1 10", "10 1"]) {
                scenario, log in
                for length in [1, 10] {
                    scenario.thread("\(length)") { log.send(after: length) }
                }
            },
            program("one thread sends after the other", outcomes: ["1 10"]) { scenario, log in
                let sent = DispatchSemaphore(value: 0)
                scenario.thread("1") {
                    log.send(after: 1)
                    sent.signal()
                }
                scenario.thread("10") {
                    sent.wait()
                    log.send(after: 10)
                }
            },
            program("work sends more work, which comes later", outcomes: ["1 4 5", "4 1 5"]) {
                scenario, log in
                scenario.thread("sends") {
                    log.send(after: 4)
                    log.send(after: 1) { log.send(after: 4, name: 5) }
                }
            },
            program(
                "work sends more work, which may be early", outcomes: ["1 3 4", "1 4 3", "4 1 3"]
            ) {
                scenario, log in
                scenario.thread("sends") {
                    log.send(after: 4)
                    log.send(after: 1) { log.send(after: 2, name: 3) }
                }
            },
            // The work with the delay of 2 may be sent only after the other thread has slept.
            program("how long an unrelated thread sleeps is no limit", outcomes: ["2 1", "1 2"]) {
                scenario, log in
                let (sent, slept) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                scenario.thread("sends") {
                    log.send(after: 2)
                    sent.signal()
                }
                scenario.thread("sleeps") {
                    Thread.sleep(forTimeInterval: 5)
                    slept.signal()
                }
                scenario.thread("sends later") {
                    sent.wait()
                    slept.wait()
                    log.send(after: 1)
                }
            },
            taskAndWork(sleep: 3, work: 2, outcomes: ["2 -3", "-3 2"]),
            taskAndWork(sleep: 1, work: 2, outcomes: ["2 -1", "-1 2"]),
            sleepers([1, 2], clock: nil, outcomes: [""], explored: 1...1),
            sleepers([3, 2, 1], clock: nil, outcomes: [""], explored: 1...1),
            sleepers([1, 2], clock: .inTask, outcomes: ["2", "3"], explored: 2...9),
            sleepers([1, 2], clock: .inCheck, outcomes: ["2", "3"], explored: 2...9),
            KnownProgram("a group of three tasks that sleep", explored: 15...15) { scenario in
                scenario.task("group") {
                    await withTaskGroup(of: Void.self) { group in
                        for length in 1...3 {
                            group.addTask { try? await Task.sleep(for: .seconds(length)) }
                        }
                    }
                }
            },
        ]

        @Test("work that is sent with a delay before a run that has no threads is not done")
        func withoutThreads() {
            let exploration = explore { scenario in
                for length in [1, 2] { Log().send(after: length) }
            }
            #expect(!exploration.survives && exploration.explored <= 1)
        }

        private static func program(
            _ name: String, outcomes: Set<String>,
            _ describe: @escaping @Sendable (Scenario, Log) -> Void
        ) -> KnownProgram {
            KnownProgram(name, outcomes: outcomes, everyOrder: true) { scenario in
                let log = Log()
                describe(scenario, log)
                scenario.outcome { log.text }
            }
        }

        private static func duringSetUp(_ lengths: [Int], outcomes: Set<String>) -> KnownProgram {
            program("sent during the setup: \(lengths)", outcomes: outcomes) { scenario, log in
                for length in lengths { log.send(after: length) }
                scenario.thread("locks") { NSLock().withLock {} }
            }
        }

        private static func delayed(
            _ name: String, _ lengths: [Int], sleep: Int = 0, outcomes: Set<String>
        ) -> KnownProgram {
            program("one thread sends, and \(name)", outcomes: outcomes) { scenario, log in
                scenario.thread("sends") {
                    log.send(after: lengths[0])
                    if sleep > 0 { Thread.sleep(forTimeInterval: Double(sleep)) }
                    for length in lengths.dropFirst() { log.send(after: length) }
                }
            }
        }

        /// A task sleeps, and sends work before.
        private static func taskAndWork(
            sleep: Int, work: Int, outcomes: Set<String>
        ) -> KnownProgram {
            program("a task sleeps for \(sleep), work comes after \(work)", outcomes: outcomes) {
                scenario, log in
                scenario.task("sleeper") {
                    log.send(after: work)
                    try await Task.sleep(for: .seconds(sleep))
                    log.note(-sleep)
                }
            }
        }

        private enum Clock { case inTask, inCheck }

        /// Unrelated tasks sleep; it makes a difference in which order if the clock is read.
        private static func sleepers(
            _ lengths: [Int], clock: Clock?, outcomes: Set<String>, explored: ClosedRange<Int>
        ) -> KnownProgram {
            let reader = clock.map { "\($0)" } ?? "never"
            return KnownProgram(
                "tasks sleep for \(lengths), and read the clock: \(reader)", outcomes: outcomes,
                explored: explored, everyOrder: clock != nil
            ) { scenario in
                let (begin, seen) = (clock.map { _ in ContinuousClock.now }, Seen())
                @Sendable func elapsed() -> String {
                    "\(begin.map { ContinuousClock.now - $0 }?.components.seconds ?? 0)"
                }
                for (number, length) in lengths.enumerated() {
                    scenario.task("\(number)") {
                        try await Task.sleep(for: .seconds(length))
                        if clock == .inTask, number > 0 { seen.note(elapsed()) }
                    }
                }
                scenario.outcome { clock == .inCheck ? elapsed() : seen.text }
            }
        }

        /// What has been done on a serial queue, or by a task.
        private final class Log: Sendable {
            private let queue = DispatchQueue(label: "log")
            private let entries = Scenario.Log<String>()

            func send(
                after seconds: Int, name: Int? = nil, then next: (@Sendable () -> Void)? = nil
            ) {
                queue.asyncAfter(deadline: .now() + .seconds(seconds)) {
                    self.note(name ?? seconds)
                    next?()
                }
            }
            func note(_ name: Int) { entries.append("\(name)") }
            var text: String { entries.entries.joined(separator: " ") }
        }
    }
#endif
