import Dispatch
import Foundation
import RaceLab
import Synchronization

// Actors that run on executors of the program's own.

/// Runs jobs on a queue.
final class QueueExecutor: SerialExecutor {
    let queue: DispatchQueue

    init(_ queue: DispatchQueue = DispatchQueue(label: "executor")) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// Runs the jobs of tasks that prefer it on a concurrent queue.
private final class TaskQueue: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs a job at once, on the thread that enqueues it.
private final class InlineTaskExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// Keeps jobs until a thread runs them.
private final class LoopExecutor: SerialExecutor, @unchecked Sendable {
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []

    func enqueue(_ job: consuming ExecutorJob) {
        condition.lock()
        jobs.append(UnownedJob(job))
        condition.signal()
        condition.unlock()
    }

    func runJobs(_ count: Int) {
        for _ in 0..<count {
            condition.lock()
            while jobs.isEmpty { condition.wait() }
            let job = jobs.removeFirst()
            condition.unlock()
            job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }
}

/// The same without a lock.
private final class RacyExecutor: SerialExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []

    func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    func runJobs() {
        while let job = jobs.popLast() { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
}

/// Runs a job at once, on the thread that enqueues it.
private final class InlineExecutor: SerialExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedSerialExecutor())
    }
}

/// Has steps after it has sent the job.
private final class CountingExecutor: SerialExecutor, @unchecked Sendable {
    private let queue = DispatchQueue(label: "executor")
    private(set) var count = 0

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        count += 1
    }
}

private actor Shop {
    private let executor: any SerialExecutor
    private(set) var tickets = 1
    private(set) var lines: [Int] = []
    private var waiter: CheckedContinuation<Void, Never>?

    init(_ executor: any SerialExecutor = QueueExecutor()) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func add(_ line: Int) { lines.append(line) }
    func report(to notebook: Notebook) { notebook.lines = lines }
    func change(_ notebook: Notebook) { notebook.value += 1 }

    func sell() -> Bool {
        guard tickets > 0 else { return false }
        tickets -= 1
        return true
    }

    func sellLater(_ wait: @Sendable () async -> Void = { await Task.yield() }) async -> Bool {
        guard tickets > 0 else { return false }
        await wait()
        tickets -= 1
        return true
    }

    func wait() async { await withCheckedContinuation { waiter = $0 } }
    func call() { waiter?.resume() }

    func start(_ notebook: Notebook) {
        for number in 1...2 {
            Task {
                add(number)
                report(to: notebook)
            }
        }
    }

    func startNow(_ notebook: Notebook) { Task.immediate { notebook.value += 1 } }
}

private actor Ordinary {
    private var count = 0

    func sell(in shop: Shop) async -> Bool {
        count += 1
        let sold = await shop.sell()
        count += 1
        return sold
    }
}

@globalActor private actor Counting {
    static let shared = Counting()
    private static let executor = QueueExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        Self.executor.asUnownedSerialExecutor()
    }
}

@Counting private func count(_ line: Int, in notebook: Notebook) { notebook.lines.append(line) }

private func text(_ lines: [Int]) -> String { lines.map(String.init).joined(separator: " ") }

private func sale(
    _ scenario: Scenario, _ sell: @escaping @Sendable () async -> Bool
) {
    let notebook = Notebook()
    scenario.task("first") { notebook.value = await sell() ? 1 : 0 }
    scenario.task("second") { notebook.other = await sell() ? 1 : 0 }
    scenario.check {
        try Scenario.require(notebook.value + notebook.other == 1, "not exactly one succeeds")
    }
}

extension TaskExample {
    static let executors = [
        TaskExample("an actor on a queue protects what is its own") { scenario in
            let shop = Shop()
            scenario.task("first") { await shop.add(1) }
            scenario.task("second") { await shop.add(2) }
        },
        TaskExample(
            "three tasks on a queue come in any order",
            outcomes: ["1 2 3", "1 3 2", "2 1 3", "2 3 1", "3 1 2", "3 2 1"]
        ) { scenario in
            let shop = Shop()
            let notebook = Notebook()
            for number in 1...3 {
                scenario.task("task \(number) of three") {
                    await shop.add(number)
                    await shop.report(to: notebook)
                }
            }
            scenario.outcome { text(notebook.lines) }
        },
        TaskExample("check, await, act on a queue", [.failedCheck]) { scenario in
            let shop = Shop()
            sale(scenario) { await shop.sellLater() }
        },
        TaskExample("check, sleep, act on a queue", [.failedCheck]) { scenario in
            let shop = Shop()
            sale(scenario) {
                await shop.sellLater { try? await Task.sleep(for: .seconds(1)) }
            }
        },
        TaskExample("check and act on a queue") { scenario in
            let shop = Shop()
            sale(scenario) { await shop.sell() }
        },
        TaskExample("from one actor to another, which is on a queue") { scenario in
            let shop = Shop()
            let ordinary = Ordinary()
            sale(scenario) { await ordinary.sell(in: shop) }
        },
        TaskExample("from the main actor to one on a queue") { scenario in
            let shop = Shop()
            sale(scenario) { @MainActor in await shop.sell() }
        },
        TaskExample("an actor on the main queue") { scenario in
            let shop = Shop(QueueExecutor(.main))
            sale(scenario) { await shop.sell() }
        },
        TaskExample(
            "an actor on a concurrent queue protects nothing", [.overlap, .dataRace, .failedCheck]
        ) { scenario in
            let shop = Shop(QueueExecutor(.global()))
            sale(scenario) { await shop.sell() }
        },
        TaskExample("two actors on one executor protect one thing") { scenario in
            let notebook = Notebook()
            let executor = QueueExecutor()
            let first = Shop(executor)
            let second = Shop(executor)
            scenario.task("first") { await first.change(notebook) }
            scenario.task("second") { await second.change(notebook) }
        },
        TaskExample("two actors on two executors do not", [.overlap]) { scenario in
            let notebook = Notebook()
            let first = Shop()
            let second = Shop()
            scenario.task("first") { await first.change(notebook) }
            scenario.task("second") { await second.change(notebook) }
        },
        TaskExample("an executor publishes what was done before") { scenario in
            let shop = Shop()
            let notebook = Notebook()
            scenario.task("writer") {
                notebook.value = 1
                await shop.add(1)
            }
            scenario.task("reader") { if await !shop.lines.isEmpty { _ = notebook.value } }
        },
        TaskExample("but not what is done after it", [.dataRace]) { scenario in
            let shop = Shop()
            let notebook = Notebook()
            scenario.task("writer") {
                await shop.add(1)
                notebook.value = 1
            }
            scenario.task("reader") { if await !shop.lines.isEmpty { _ = notebook.value } }
        },
        TaskExample("a queue of the program and an actor on it share") { scenario in
            let executor = QueueExecutor()
            let shop = Shop(executor)
            let notebook = Notebook()
            scenario.task("task") { await shop.change(notebook) }
            scenario.thread("thread") { executor.queue.async { notebook.value += 1 } }
        },
        TaskExample("a global actor on a queue", outcomes: ["1 2", "2 1"]) { scenario in
            let notebook = Notebook()
            scenario.task("first") { await count(1, in: notebook) }
            scenario.task("second") { await count(2, in: notebook) }
            scenario.outcome { text(notebook.lines) }
        },
        TaskExample("tasks that an actor on a queue starts are in order", outcomes: ["1 2"]) {
            scenario in
            let shop = Shop()
            let notebook = Notebook()
            scenario.task("starter") { await shop.start(notebook) }
            scenario.outcome { text(notebook.lines) }
        },
        TaskExample("an immediate task on a queue", outcomes: ["1"]) { scenario in
            let shop = Shop()
            let notebook = Notebook()
            scenario.task("starter") { await shop.startNow(notebook) }
            scenario.outcome { "\(notebook.value)" }
        },
        TaskExample("a call on a queue that comes too early", [.deadlock]) { scenario in
            let shop = Shop()
            scenario.task("waiter") { await shop.wait() }
            scenario.task("caller") { await shop.call() }
        },
        TaskExample("children on a queue", outcomes: ["3"]) { scenario in
            let shop = Shop()
            let notebook = Notebook()
            scenario.task("parent") {
                async let one: Void = shop.change(notebook)
                async let two: Void = shop.change(notebook)
                _ = await (one, two)
                await shop.change(notebook)
            }
            scenario.outcome { "\(notebook.value)" }
        },
        TaskExample("a thread that runs the jobs", outcomes: ["1 2", "2 1"]) { scenario in
            let executor = LoopExecutor()
            let shop = Shop(executor)
            let notebook = Notebook()
            for number in 1...2 {
                scenario.task("task \(number)") {
                    await shop.add(number)
                    await shop.report(to: notebook)
                }
            }
            scenario.thread("loop") { executor.runJobs(2) }
            scenario.outcome { text(notebook.lines) }
        },
        TaskExample("two threads that run the jobs", [.overlap]) { scenario in
            let executor = LoopExecutor()
            let shop = Shop(executor)
            scenario.task("first") { await shop.add(1) }
            scenario.task("second") { await shop.add(2) }
            scenario.thread("loop 1") { executor.runJobs(1) }
            scenario.thread("loop 2") { executor.runJobs(1) }
        },
        TaskExample("a job that no thread runs", [.deadlock]) { scenario in
            let shop = Shop(LoopExecutor())
            scenario.task("caller") { await shop.add(1) }
        },
        TaskExample("an executor without a lock", [.overlap, .deadlock]) { scenario in
            let executor = RacyExecutor()
            let shop = Shop(executor)
            scenario.task("caller") { await shop.add(1) }
            scenario.thread("loop") { executor.runJobs() }
        },
        TaskExample("two tasks with a preference share", [.overlap]) { scenario in
            let notebook = Notebook()
            scenario.thread("starter") {
                let executor = TaskQueue()
                for _ in 1...2 { Task(executorPreference: executor) { notebook.value += 1 } }
            }
        },
        TaskExample("two tasks with a preference use one actor") { scenario in
            let store = Ordinary()
            let shop = Shop()
            scenario.thread("starter") {
                let executor = TaskQueue()
                for _ in 1...2 {
                    Task(executorPreference: executor) { _ = await store.sell(in: shop) }
                }
            }
        },
        TaskExample("children with a preference", outcomes: ["2"]) { scenario in
            let notebook = Notebook()
            scenario.task("parent") {
                await withTaskExecutorPreference(TaskQueue()) {
                    async let one = 1
                    await Task.yield()
                    notebook.value = await one + 1
                }
            }
            scenario.outcome { "\(notebook.value)" }
        },
        TaskExample("a task that is run where it is started", outcomes: ["1"]) { scenario in
            let notebook = Notebook()
            scenario.thread("starter") {
                Task(executorPreference: InlineTaskExecutor()) { notebook.value = 1 }
            }
            scenario.outcome { "\(notebook.value)" }
        },
    ]

    /// Executors that the lab cannot control.
    static let uncontrolledExecutors = [
        TaskExample("runs a job at once") { scenario in
            let shop = Shop(InlineExecutor())
            scenario.task("caller") {
                await Task.yield()
                await shop.add(1)
            }
        },
        TaskExample("has steps after it has sent a job") { scenario in
            let shop = Shop(CountingExecutor())
            scenario.task("caller") { await shop.add(1) }
        },
    ]
}
