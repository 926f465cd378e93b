import Foundation
import RaceLab
import Synchronization
import Testing

/// Used by a handler of `exit`.
private let handled = Shared()

/// A thread crashes right after an atomic operation with a weak ordering. Before another step, the
/// operation would read another store.
@Suite("A crash right after an atomic operation", .needsTheLab)
struct WeakCrashTests {
    /// One thread stores a number, and another one crashes if it loads that.
    private static func whenStored(
        _ crash: @escaping @Sendable () -> Void
    ) -> @Sendable (Scenario) -> Void {
        { scenario in
            let (number, log) = (Box(Atomic(0)), Scenario.Log<Int>())
            scenario.thread("stores") { number.value.store(1, ordering: .releasing) }
            scenario.thread("loads") {
                let loaded = number.value.load(ordering: .acquiring)
                if loaded == 1 { crash() }
                log.append(loaded)
            }
            scenario.outcome { "\(log.entries)" }
        }
    }

    private static func relaxed(inTasks: Bool) -> @Sendable (Scenario) -> Void {
        { scenario in
            let number = Box(Atomic(0))
            let store = { number.value.store(1, ordering: .relaxed) }
            let load = { precondition(number.value.load(ordering: .relaxed) == 0, "stored") }
            if inTasks {
                scenario.task("stores") { store() }
                scenario.task("loads") { load() }
            } else {
                scenario.thread("stores") { store() }
                scenario.thread("loads") { load() }
            }
            scenario.outcome { "\(number.value.load(ordering: .relaxed))" }
        }
    }

    private static func program(
        _ description: String, _ reason: String, outcomes: Set<String> = ["[0]"],
        _ describe: @escaping @Sendable (Scenario) -> Void
    ) -> KnownProgram {
        KnownProgram(
            description, .crash, alwaysFails: false, reason: [reason], outcomes: outcomes,
            options: .isolated, everyOrder: true, describe)
    }

    static let programs = [
        program(
            "a failed precondition", "'loads' crashes at WeakCrashTests.swift",
            whenStored { preconditionFailure("stored") }),
        program(
            "the handlers of `exit` are no steps", "'ends' ends the process", outcomes: ["over"]
        ) { scenario in
            let number = Box(Atomic(0))
            scenario.thread("ends") {
                guard number.value.load(ordering: .acquiring) == 1 else { return }
                atexit { handled.value += 1 }
                exit(0)
            }
            scenario.thread("other") {
                number.value.store(1, ordering: .releasing)
                handled.value += 1
            }
            scenario.outcome { "over" }
        },
        program("relaxed orderings", ": stored", outcomes: ["1"], relaxed(inTasks: false)),
        program("in a task", ": stored", outcomes: ["1"], relaxed(inTasks: true)),
        program("an exchange that fails", "claimed twice", outcomes: ["true"]) { scenario in
            let isClaimed = Box(Atomic(false))
            let claim = {
                isClaimed.value.compareExchange(
                    expected: false, desired: true, ordering: .acquiringAndReleasing
                ).exchanged
            }
            scenario.thread("first") { _ = claim() }
            scenario.thread("second") { precondition(claim(), "claimed twice") }
            scenario.outcome { "\(isClaimed.value.load(ordering: .relaxed))" }
        },
        program("an arithmetic overflow", "'adds' crashes at", outcomes: ["255"]) { scenario in
            let number = Box(Atomic<UInt8>(0))
            scenario.thread("stores") { number.value.store(255, ordering: .relaxed) }
            scenario.thread("adds") { number.value.add(1, ordering: .relaxed) }
            scenario.outcome { "\(number.value.load(ordering: .relaxed))" }
        },
    ]

    @Test("is a finding that can be replayed", arguments: programs)
    func known(_ program: KnownProgram) throws {
        let exploration = program.check()
        for finding in exploration.findings {
            let trace = try #require(try exploration.counterexample(showing: finding))
            #expect(trace.steps.last?.mark == finding.reason)
        }
    }
}
