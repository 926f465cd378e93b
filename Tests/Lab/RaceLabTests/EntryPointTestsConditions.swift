import Dispatch
import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

@Suite("The lab controls conditions and semaphores", .needsTheLab)
struct ConditionEntryPointTests {
    /// Room for one item.
    final class Buffer: @unchecked Sendable {
        private let condition = NSCondition()
        private var item: Int?
        private let waitsInLoop: Bool

        init(waitsInLoop: Bool) {
            self.waitsInLoop = waitsInLoop
        }

        private func wait(while isUnfit: () -> Bool) {
            if waitsInLoop {
                while isUnfit() { condition.wait() }
            } else if isUnfit() {
                condition.wait()
            }
        }

        func put(_ item: Int) {
            condition.lock()
            wait { self.item != nil }
            self.item = item
            condition.broadcast()
            condition.unlock()
        }

        func take() -> Int? {
            condition.lock()
            defer { condition.unlock() }
            wait { item == nil }
            defer { item = nil }
            condition.broadcast()
            return item
        }
    }

    private func oneProducerTwoConsumers(waitsInLoop: Bool) -> Exploration {
        var options = Exploration.Options()
        options.preemptionBound = 2
        return explore(options: options) { scenario in
            let buffer = Buffer(waitsInLoop: waitsInLoop)
            let taken = Scenario.Log<Int?>()
            scenario.thread("producer") { for item in 1...2 { buffer.put(item) } }
            for name in ["first", "second"] {
                scenario.thread(name) { taken.append(buffer.take()) }
            }
            scenario.check {
                try Scenario.require(
                    taken.entries.allSatisfy { $0 != nil }, "took what was not there")
                try Scenario.require(Set(taken.entries).count == 2, "took one twice")
            }
        }
    }

    @Test("a bounded buffer whose threads wait in a loop does not fail")
    func boundedBuffer() {
        let exploration = oneProducerTwoConsumers(waitsInLoop: true)
        #expect(
            exploration.inconclusive == nil && exploration.failing == 0, "\(exploration.summary)")
    }

    @Test("with `if` instead of `while` a thread takes an item that is not there")
    func ifInPlaceOfWhile() {
        let exploration = oneProducerTwoConsumers(waitsInLoop: false)
        #expect(
            exploration.reasons(.failedCheck).contains("took what was not there"),
            "\(exploration.summary)")
    }

    private func waitForFlag(lookingUnderLock: Bool) -> Exploration {
        explore { scenario in
            let (shared, condition) = (Shared(), NSCondition())
            scenario.thread("waiter") {
                if lookingUnderLock {
                    condition.lock()
                    while !shared.isReady { condition.wait() }
                } else {
                    if shared.isReady { return }
                    condition.lock()
                    condition.wait()
                }
                condition.unlock()
            }
            scenario.thread("signaller") {
                condition.lock()
                shared.isReady = true
                condition.signal()
                condition.unlock()
            }
        }
    }

    @Test("a signal that finds no waiting thread is lost")
    func lostWakeUp() {
        #expect(waitForFlag(lookingUnderLock: true).survives)
        let exploration = waitForFlag(lookingUnderLock: false)
        let reason = exploration.reasons(.deadlock).first
        #expect(reason?.hasSuffix("to be woken by a signal") == true, "\(exploration.summary)")
        #expect(reason?.contains("'waiter' waits at EntryPointTestsConditions.swift:") == true)
    }

    @Test("one signal wakes one thread")
    func signalWakesOne() {
        let exploration = explore { scenario in
            let condition = NSCondition()
            for name in ["first", "second"] {
                scenario.thread(name) {
                    condition.lock()
                    condition.wait()
                    condition.unlock()
                }
            }
            scenario.thread("signaller") { condition.signal() }
        }
        #expect(exploration.passingSchedule == nil, "\(exploration.summary)")
        #expect(exploration.findings.allSatisfy { $0.kind == .deadlock }, "\(exploration.summary)")
    }

    @Test("a signal wakes the thread that has waited longest")
    func signalWakesFirst() {
        let exploration = explore { scenario in
            let condition = NSCondition()
            let (waiting, woken) = (Scenario.Log<String>(), Scenario.Log<String>())
            for name in ["first", "second"] {
                scenario.thread(name) {
                    condition.lock()
                    waiting.append(name)
                    if condition.wait(until: Date() + 3600) { woken.append(name) }
                    condition.unlock()
                }
            }
            scenario.thread("signaller") {
                condition.lock()
                condition.signal()
                condition.unlock()
            }
            scenario.check {
                try Scenario.require(woken.entries.count <= 1, "one signal has woken two")
                try Scenario.require(
                    waiting.entries.starts(with: woken.entries), "who came later was woken first")
            }
            scenario.outcome { "\(woken.entries)" }
        }
        #expect(exploration.survives, "\(exploration.summary)")
        #expect(exploration.outcomes.count == 3, "\(exploration.outcomes)")
    }

    @Test("a wait times out if no thread signals, and only then")
    func timedWait() {
        let exploration = explore { scenario in
            let (shared, condition) = (Shared(), NSCondition())
            scenario.thread("waiter") {
                condition.lock()
                if !shared.isReady { shared.other = condition.wait(until: Date() + 3600) ? 1 : 2 }
                condition.unlock()
            }
            scenario.thread("signaller") {
                condition.lock()
                condition.signal()
                condition.unlock()
            }
            scenario.outcome { ["never waited", "was woken", "gave up"][shared.other] }
        }
        #expect(exploration.survives, "\(exploration.summary)")
        #expect(Set(exploration.outcomes.keys) == ["was woken", "gave up"])
    }

    @Test("a thread that is woken in time competes for the lock like any other")
    func wokenInTime() {
        let exploration = explore { scenario in
            let (shared, condition) = (Shared(), NSCondition())
            scenario.thread("waiter") {
                condition.lock()
                _ = condition.wait(until: Date() + 3600)
                condition.unlock()
            }
            scenario.thread("signaller") {
                condition.lock()
                shared.isReady = true
                condition.signal()
                DispatchSemaphore(value: 0).wait()
            }
        }
        #expect(exploration.inconclusive == nil, "\(exploration.summary)")
        #expect(
            exploration.findings.map(\.kind).allSatisfy { $0 == .deadlock },
            "\(exploration.summary)")
        #expect(exploration.passingSchedule == nil)
    }

    @Test("repeated signals wake threads that begin to wait in between")
    func signalsInALoop() {
        let exploration = explore { scenario in
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
        }
        #expect(exploration.survives, "\(exploration.summary)")
    }

    @Test("an NSConditionLock waits for its value")
    func conditionLock() {
        let exploration = explore { scenario in
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
        }
        #expect(exploration.survives, "\(exploration.summary)")
    }

    @Test("a semaphore of one is a lock; a semaphore of two is not", arguments: [1, 2])
    func semaphoreAsLock(count: Int) {
        let exploration = explore { scenario in
            let (shared, semaphore) = (Shared(), DispatchSemaphore(value: count))
            for name in ["left", "right"] {
                scenario.thread(name) {
                    semaphore.wait()
                    shared.value += 1
                    semaphore.signal()
                }
            }
        }
        #expect(exploration.survives == (count == 1), "\(exploration.summary)")
        #expect(exploration.reasons(.overlap).isEmpty == (count == 1))
    }

    @Test("a semaphore that no thread signals: a deadlock")
    func semaphoreForEver() {
        var lastWait = ""
        let exploration = explore { scenario in
            let semaphore = DispatchSemaphore(value: 1)
            lastWait = place(3)
            scenario.thread("only") {
                semaphore.wait()
                semaphore.wait()
            }
        }
        #expect(
            exploration.reasons(.deadlock) == [
                "'only' waits at \(lastWait) for a semaphore to be signalled"
            ], "\(exploration.summary)")
    }

    @Test("what precedes a signal happens before what follows the wait")
    func semaphoreOrders() {
        let exploration = explore { scenario in
            let (shared, semaphore) = (Shared(), DispatchSemaphore(value: 0))
            scenario.thread("maker") {
                shared.value = 1
                semaphore.signal()
            }
            scenario.thread("user") {
                semaphore.wait()
                shared.value += 1
            }
        }
        #expect(exploration.survives, "\(exploration.summary)")
    }

    @Test("an attempt on a semaphore does not wait; a wait with a time-out ends")
    func semaphoreTimeouts() {
        let attempt = explore { scenario in
            let (shared, semaphore) = (Shared(), DispatchSemaphore(value: 0))
            scenario.thread("signaller") { semaphore.signal() }
            scenario.thread("attempt") {
                shared.isReady = semaphore.wait(timeout: .now()) == .success
            }
            scenario.outcome { "\(shared.isReady)" }
        }
        #expect(attempt.survives, "\(attempt.summary)")
        #expect(Set(attempt.outcomes.keys) == ["true", "false"])
        let patient = explore { scenario in
            let (shared, semaphore) = (Shared(), DispatchSemaphore(value: 0))
            scenario.thread("other") { shared.value = 1 }
            scenario.thread("patient") {
                shared.isReady = semaphore.wait(timeout: .now() + 3600) == .success
            }
            scenario.check { try Scenario.require(!shared.isReady, "nobody has signalled") }
        }
        #expect(patient.survives, "\(patient.summary)")
    }

    @Test("a time-out fires only when no other thread is enabled, not even to release a lock")
    func releasedWhenTimeIsUp() {
        let exploration = explore { scenario in
            let (lock, shared, semaphore) = (NSLock(), Shared(), DispatchSemaphore(value: 0))
            scenario.thread("holder") { lock.withLock {} }
            scenario.thread("waiting") {
                _ = semaphore.wait(timeout: .now() + 3600)
                shared.isReady = lock.try()
            }
            scenario.check { try Scenario.require(shared.isReady, "somebody could still go on") }
        }
        #expect(exploration.survives, "\(exploration.summary)")
    }
}
