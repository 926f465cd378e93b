import Dispatch
import Foundation
import RaceLab
import RaceLabTesting
import Stage3ThreadSafe
import Testing

@Suite("The lab controls dispatch queues", .needsTheLab)
struct DispatchQueueEntryPointTests {
    private func increments(on queue: @escaping () -> DispatchQueue) -> Exploration {
        explore { scenario in
            let (shared, queue) = (Shared(), queue())
            for name in ["first", "second"] {
                scenario.thread(name) { queue.sync { shared.value += 1 } }
            }
        }
    }

    @Test("a serial queue is a lock; a concurrent queue is not")
    func serialAndConcurrent() {
        let serial = increments { DispatchQueue(label: "serial") }
        #expect(serial.survives, "\(serial.summary)")
        #expect(serial.explored > 1)
        let concurrent = increments { DispatchQueue(label: "concurrent", attributes: .concurrent) }
        #expect(!concurrent.reasons(.overlap).isEmpty, "\(concurrent.summary)")
        #expect(concurrent.passingSchedule == nil)
    }

    @Test("the main queue is serial, a global queue is concurrent")
    func knownQueues() {
        let main = increments { .main }
        #expect(main.survives, "\(main.summary)")
        let global = increments { .global() }
        #expect(!global.reasons(.overlap).isEmpty, "\(global.summary)")
    }

    @Test("attributes derived from those of a concurrent queue are concurrent")
    func derivedAttributes() {
        let exploration = increments {
            DispatchQueue(
                label: "derived", qos: .utility, attributes: .concurrent,
                autoreleaseFrequency: .workItem)
        }
        #expect(!exploration.reasons(.overlap).isEmpty, "\(exploration.summary)")
    }

    private func readersAndWriter(barrier: Bool) -> Exploration {
        explore { scenario in
            let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let shared = Shared()
            for name in ["first", "second"] {
                scenario.thread(name) { _ = queue.sync { shared.value } }
            }
            scenario.thread("writer") {
                queue.sync(flags: barrier ? .barrier : []) { shared.value += 1 }
            }
        }
    }

    @Test("a barrier works like a writer's lock; without it, the writer races")
    func barrier() {
        let withBarrier = readersAndWriter(barrier: true)
        #expect(withBarrier.survives, "\(withBarrier.summary)")
        let without = readersAndWriter(barrier: false)
        #expect(!without.reasons(.dataRace).isEmpty, "\(without.summary)")
    }

    @Test("work that waits for its own queue: a deadlock")
    func ownQueue() {
        var places: [String] = []
        let exploration = explore { scenario in
            let queue = DispatchQueue(label: "serial")
            places = [place(2), place(3)]
            scenario.thread("only") {
                queue.sync {
                    queue.sync {}
                }
            }
        }
        #expect(
            exploration.reasons(.deadlock) == [
                "'only' waits at \(places[1]) for the lock that it took itself at \(places[0])"
            ], "\(exploration.summary)")
    }

    @Test("two queues that wait for each other; a queue that outlives the scenario is free again")
    func oppositeOrder() {
        let (one, two) = (DispatchQueue(label: "one"), DispatchQueue(label: "two"))
        for _ in 1...2 {
            let exploration = explore { scenario in
                scenario.thread("there") { one.sync { two.sync {} } }
                scenario.thread("back") { two.sync { one.sync {} } }
                scenario.check { one.sync { two.sync {} } }
            }
            #expect(exploration.inconclusive == nil, "\(exploration.summary)")
            #expect(exploration.reasons(.deadlock).count == 1, "\(exploration.summary)")
            #expect(exploration.passingSchedule != nil)
        }
    }

    @Test("work runs on its queue, and its result or error is returned")
    func insideTheWork() {
        struct Failure: Error {}
        let key = DispatchSpecificKey<Int>()
        let exploration = explore { scenario in
            let shared = Shared()
            let queue = DispatchQueue(label: "serial")
            queue.setSpecific(key: key, value: 7)
            for name in ["first", "second"] {
                scenario.thread(name) {
                    let found = queue.sync {
                        dispatchPrecondition(condition: .onQueue(queue))
                        return DispatchQueue.getSpecific(key: key)
                    }
                    let failed = (try? queue.sync { throw Failure() }) == nil
                    if found == 7, failed { queue.sync { shared.value += 1 } }
                }
            }
            scenario.check { try Scenario.require(shared.value == 2, "not as it is outside") }
        }
        #expect(exploration.survives, "\(exploration.summary)")
    }
}

@Suite("The lab's own queue", .needsTheLab)
struct LabQueueTests {
    @Test("runs work in the order in which it was sent")
    func order() {
        let exploration = explore { scenario in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            scenario.thread("sender") {
                for item in 1...3 { queue.async { shared.items.append(item) } }
            }
            scenario.check { try Scenario.require(shared.items == [1, 2, 3], "out of order") }
        }
        #expect(exploration.survives, "\(exploration.summary)")
        #expect(exploration.threads == ["worker", "sender"])
        #expect(exploration.explored > 3)
    }

    @Test("what precedes the sending happens before the work")
    func sendingOrders() {
        let exploration = explore { scenario in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            scenario.thread("sender") {
                shared.value = 1
                queue.async { shared.value += 1 }
            }
            scenario.check { try Scenario.require(shared.value == 2, "not done") }
        }
        #expect(exploration.survives, "\(exploration.summary)")
    }

    @Test("what the sender does after sending races with the work")
    func race() {
        let exploration = explore { scenario in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            scenario.thread("sender") {
                queue.async { shared.value = 1 }
                shared.value = 2
            }
        }
        #expect(!exploration.reasons(.overlap).isEmpty, "\(exploration.summary)")
        #expect(exploration.passingSchedule == nil)
    }

    @Test("a second piece of work is not ordered after what the sender of the first does later")
    func edgesAreOfItems() {
        let exploration = explore { scenario in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            scenario.thread("sender") {
                queue.async { _ = shared.value }
                shared.value = 1
                queue.async {}
            }
        }
        #expect(!exploration.reasons(.dataRace).isEmpty, "\(exploration.summary)")
        #expect(exploration.passingSchedule == nil)
    }

    @Test("work on two workers is not ordered; on one worker it is", arguments: [1, 2])
    func workers(count: Int) {
        let exploration = explore { scenario in
            let (shared, queue) = (Shared(), scenario.queue("worker", workers: count))
            scenario.thread("sender") {
                for _ in 1...2 { queue.async { shared.value += 1 } }
            }
        }
        #expect(exploration.survives == (count == 1), "\(exploration.summary)")
        #expect(exploration.reasons(.overlap).isEmpty == (count == 1))
    }

    @Test("work that is sent by work, or during set-up, runs before the end")
    func nested() {
        let exploration = explore { scenario in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            queue.async {
                shared.value += 1
                queue.async { shared.value += 1 }
            }
            scenario.thread("other") { shared.other = 1 }
            scenario.check { try Scenario.require(shared.value == 2, "something was left undone") }
        }
        #expect(exploration.survives, "\(exploration.summary)")
    }

    @Test("work waits for later work on the same queue: a deadlock")
    func waitsForItself() {
        let exploration = explore { scenario in
            let queue = scenario.queue("worker")
            let semaphore = DispatchSemaphore(value: 0)
            scenario.thread("sender") {
                queue.async {
                    queue.async { semaphore.signal() }
                    semaphore.wait()
                }
            }
        }
        #expect(exploration.reasons(.deadlock).count == 1, "\(exploration.summary)")
        #expect(exploration.passingSchedule == nil)
    }

    @Test("an idle worker is no deadlock, but a deadlock report names it")
    func idleWorker() {
        let exploration = explore { scenario in
            _ = scenario.queue("worker")
            let semaphore = DispatchSemaphore(value: 0)
            scenario.thread("other") { semaphore.wait() }
        }
        let reason = exploration.reasons(.deadlock).first ?? exploration.summary
        #expect(reason.hasPrefix("'worker' waits for work; 'other' waits at "))
    }

    struct QueueDispatcher: Dispatcher, @unchecked Sendable {
        let queue: Scenario.Queue

        func dispatch(_ work: @escaping @Sendable () -> Void) { queue.async(work) }
    }

    @Test("a promise of stage 3 calls its handlers there, each once and in order")
    func promise() {
        let exploration = explore { scenario in
            let dispatcher = QueueDispatcher(queue: scenario.queue("handlers"))
            let log = Scenario.Log<Int>()
            let (promise, resolver) = AWPromise<Int>.pending()
            scenario.thread("subscriber") {
                promise.then(on: dispatcher) { log.append($0) }
                promise.then(on: dispatcher) { log.append($0 + 1) }
            }
            scenario.thread("resolver") { resolver.fulfill(1) }
            scenario.check {
                try Scenario.require(log.entries == [1, 2], "lost, twice or out of order")
            }
        }
        #expect(exploration.survives, "\(exploration.summary)")
        #expect(exploration.explored > 1)
    }

    @Test("an interleaving with a worker can be replayed")
    func replayed() throws {
        let describe = { (scenario: Scenario) in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            scenario.thread("sender") {
                queue.async { shared.value = 1 }
                shared.value = 2
            }
        }
        let trace = try #require(try explore(describe).counterexample())
        let again = try Exploration.replay(trace.scheduleText, describe)
        #expect(again.schedule == trace.schedule)
        let kinds = trace.steps.map(\.kind)
        #expect(kinds.contains(.send) && kinds.contains(.receive), "\(trace.table())")
        // The step of the worker shows the line that sent the work.
        let received = trace.steps.first { $0.kind == .receive }
        #expect(received?.text.contains("queue.async") == true)
    }
}
