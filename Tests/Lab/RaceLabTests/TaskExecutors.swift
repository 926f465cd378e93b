import Foundation
import RaceLab

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
    private let lock = NSLock()
    private(set) var count = 0

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            self.lock.withLock { self.count += 1 }
            job.runSynchronously(on: self.asUnownedSerialExecutor())
        }
        // The queue may be the first to take the lock, and then runs the job meanwhile.
        lock.withLock { count += 1 }
    }
}

private actor Bank: Guard {
    private let executor: any SerialExecutor
    var lines: [Int] = []
    var balance = 1

    init(_ executor: any SerialExecutor = QueueExecutor()) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func startNow(_ notebook: Notebook) { Task.immediate { notebook.value += 1 } }
}

private actor Ordinary {
    private var count = 0

    func withdraw(from bank: Bank) async -> Bool {
        count += 1
        let succeeded = await bank.withdraw()
        count += 1
        return succeeded
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

extension TaskExample {
    static let executors =
        examples(", on queues", by: { Bank() }) + [
            TaskExample("from one actor to another, which is on a queue") { scenario in
                let bank = Bank()
                let ordinary = Ordinary()
                withdrawTwice(scenario) { await ordinary.withdraw(from: bank) }
            },
            TaskExample("an actor on the main queue") { scenario in
                let bank = Bank(QueueExecutor(.main))
                withdrawTwice(scenario) { await bank.withdraw() }
            },
            TaskExample(
                "an actor on a concurrent queue protects nothing",
                [.overlap, .dataRace, .failedCheck]
            ) { scenario in
                let bank = Bank(QueueExecutor(.global()))
                withdrawTwice(scenario) { await bank.withdraw() }
            },
            TaskExample("two actors on one executor protect one thing") { scenario, notebook in
                let executor = QueueExecutor()
                let first = Bank(executor)
                let second = Bank(executor)
                scenario.task("first") { await first.change(notebook) }
                scenario.task("second") { await second.change(notebook) }
            },
            TaskExample("a queue of the program and an actor on it share") { scenario, notebook in
                let executor = QueueExecutor()
                let bank = Bank(executor)
                scenario.task("task") { await bank.change(notebook) }
                scenario.thread("thread") { executor.queue.async { notebook.value += 1 } }
            },
            TaskExample("a global actor on a queue", outcomes: ["1 2", "2 1"]) {
                scenario, notebook in
                scenario.task("first") { await count(1, in: notebook) }
                scenario.task("second") { await count(2, in: notebook) }
            },
            TaskExample("an immediate task on a queue", outcomes: ["1"]) { scenario, notebook in
                let bank = Bank()
                scenario.task("starter") { await bank.startNow(notebook) }
            },
            TaskExample("a thread that runs the jobs", outcomes: ["1 2", "2 1"]) {
                scenario, notebook in
                let executor = LoopExecutor()
                let bank = Bank(executor)
                for number in 1...2 {
                    scenario.task("task \(number)") {
                        await bank.add(number)
                        await bank.report(to: notebook)
                    }
                }
                scenario.thread("loop") { executor.runJobs(2) }
            },
            TaskExample("two threads that run the jobs", [.overlap]) { scenario in
                let executor = LoopExecutor()
                let bank = Bank(executor)
                scenario.task("first") { await bank.add(1) }
                scenario.task("second") { await bank.add(2) }
                scenario.thread("loop 1") { executor.runJobs(1) }
                scenario.thread("loop 2") { executor.runJobs(1) }
            },
            TaskExample("an executor without a lock", [.overlap, .deadlock]) { scenario in
                let executor = RacyExecutor()
                let bank = Bank(executor)
                scenario.task("caller") { await bank.add(1) }
                scenario.thread("loop") { executor.runJobs() }
            },
            TaskExample("two tasks with a preference share", [.overlap]) { scenario, notebook in
                scenario.thread("starter") {
                    let executor = TaskQueue()
                    for _ in 1...2 { Task(executorPreference: executor) { notebook.value += 1 } }
                }
            },
            TaskExample("two tasks with a preference use one actor") { scenario in
                let ordinary = Ordinary()
                let bank = Bank()
                scenario.thread("starter") {
                    let executor = TaskQueue()
                    for _ in 1...2 {
                        Task(executorPreference: executor) {
                            _ = await ordinary.withdraw(from: bank)
                        }
                    }
                }
            },
            TaskExample("children with a preference", outcomes: ["2"], task: "parent") { notebook in
                await withTaskExecutorPreference(TaskQueue()) {
                    async let one = 1
                    await Task.yield()
                    notebook.value = await one + 1
                }
            },
            TaskExample("a task that is run where it is started", outcomes: ["1"]) {
                scenario, notebook in
                scenario.thread("starter") {
                    Task(executorPreference: InlineTaskExecutor()) { notebook.value = 1 }
                }
            },
        ]

    /// Executors that the lab cannot control.
    static let uncontrolledExecutors = [
        TaskExample("runs a job at once") { scenario in
            let bank = Bank(InlineExecutor())
            scenario.task("caller") {
                await Task.yield()
                await bank.add(1)
            }
        },
        TaskExample("has steps after it has sent a job") { scenario in
            let bank = Bank(CountingExecutor())
            scenario.task("caller") { await bank.add(1) }
        },
    ]
}
