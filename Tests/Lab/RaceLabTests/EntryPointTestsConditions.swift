import Dispatch
import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

@Suite("The lab controls conditions and semaphores", .needsTheLab)
struct ConditionEntryPointTests {
    @Test("has its known result", arguments: conditions + semaphores)
    func known(_ program: KnownProgram) { program.check() }

    private static let conditions = [
        KnownProgram(
            "a signal that finds no waiting thread is lost", .deadlock, .dataRace,
            reason: [
                "'waiter' waits at EntryPointTestsConditions.swift:", "to be woken by a signal",
            ]
        ) { scenario in
            let (shared, condition) = (Shared(), NSCondition())
            scenario.thread("waiter") {
                if shared.isReady { return }
                condition.lock()
                condition.wait()
                condition.unlock()
            }
            scenario.thread("signaller") {
                condition.lock()
                shared.isReady = true
                condition.signal()
                condition.unlock()
            }
        },
        KnownProgram("repeated signals wake threads that begin to wait in between") { scenario in
            let (isDone, condition) = (Box(Atomic(false)), NSCondition())
            scenario.thread("signaller") {
                while !isDone.value.load(ordering: .relaxed) { condition.broadcast() }
            }
            scenario.thread("waiter") {
                condition.lock()
                condition.wait()
                condition.unlock()
                isDone.value.store(true, ordering: .relaxed)
            }
        },
        KnownProgram("an NSConditionLock waits for its value") { scenario in
            let (shared, lock) = (Shared(), NSConditionLock(condition: 0))
            scenario.thread("second") {
                // Without a date, Foundation for Linux converts the distant future to nanoseconds.
                // That overflows and traps, with or without the lab.
                guard lock.lock(whenCondition: 1, before: Date() + 3600) else { return }
                shared.items.append(2)
                lock.unlock()
            }
            scenario.thread("first") {
                lock.lock()
                shared.items.append(1)
                lock.unlock(withCondition: 1)
            }
            scenario.check { try Scenario.require(shared.items == [1, 2], "out of order") }
        },
    ]

    private static let semaphores = [
        KnownProgram(
            "a semaphore that no thread signals: a deadlock", .deadlock,
            sentence: "'only' waits at \(place(5)) for a semaphore to be signalled"
        ) { scenario in
            let semaphore = DispatchSemaphore(value: 1)
            scenario.thread("only") {
                semaphore.wait()
                semaphore.wait()
            }
        }
    ]
}
