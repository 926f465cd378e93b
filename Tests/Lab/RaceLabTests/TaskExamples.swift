import Dispatch
import RaceLab
import Synchronization

/// A program of tasks with a known answer.
struct TaskExample: Sendable, CustomStringConvertible {
    let description: String
    /// All kinds of findings over all interleavings.
    let findings: Set<Exploration.Finding.Kind>
    /// All possible outcomes.
    let outcomes: Set<String>
    let describe: @Sendable (Scenario) -> Void

    init(
        _ description: String, _ findings: Set<Exploration.Finding.Kind> = [],
        outcomes: Set<String> = [],
        _ describe: @escaping @Sendable (Scenario) -> Void
    ) {
        self.description = description
        self.findings = findings
        self.outcomes = outcomes
        self.describe = describe
    }

    /// A program that keeps a notebook. If it has outcomes, they are what the notebook says.
    init(
        _ description: String, _ findings: Set<Exploration.Finding.Kind> = [],
        outcomes: Set<String> = [],
        _ describe: @escaping @Sendable (Scenario, Notebook) -> Void
    ) {
        self.init(description, findings, outcomes: outcomes) { scenario in
            let notebook = Notebook()
            describe(scenario, notebook)
            if !outcomes.isEmpty { scenario.outcome { notebook.text } }
        }
    }

    /// A program of one task, and of those that it starts.
    init(
        _ description: String, _ findings: Set<Exploration.Finding.Kind> = [],
        outcomes: Set<String> = [], task name: String,
        _ body: @escaping @Sendable (Notebook) async throws -> Void
    ) {
        self.init(description, findings, outcomes: outcomes) { scenario, notebook in
            scenario.task(name) { try await body(notebook) }
        }
    }

    static let all: [TaskExample] = [
        shared, actors, executors, polling, continuations, structured,
        cancellation, implicitCancellations, streams, mixed,
    ].flatMap(\.self)
}

/// Shared without protection. `@unchecked` turns off the compiler's check.
final class Notebook: @unchecked Sendable {
    var value = 0
    var other = 0
    var lines: [Int] = []

    /// The lines or, if there are none, the value.
    var text: String {
        lines.isEmpty ? "\(value)" : lines.map(String.init).joined(separator: " ")
    }
}

private final class Racy: @unchecked Sendable {
    var continuation: UnsafeContinuation<Void, Never>?
}

/// Shared with protection.
final class Protected: Sendable {
    private let lines = Mutex<[Int]>([])

    func add(_ line: Int) { lines.withLock { $0.append(line) } }
    var text: String { lines.withLock { $0 }.map(String.init).joined(separator: " ") }
}

/// Once it is open, a task with a low priority waits for it.
private actor Desk {
    private let notebook: Notebook
    private let isOpen = Atomic(false)

    init(_ notebook: Notebook) { self.notebook = notebook }

    func open() {
        Task(priority: .background) { write(1) }
        isOpen.store(true, ordering: .sequentiallyConsistent)
        notebook.value += 1
    }

    nonisolated func writeWhenOpen(_ number: Int) async {
        while !isOpen.load(ordering: .sequentiallyConsistent) { await Task.yield() }
        await write(number)
    }

    private func write(_ number: Int) { notebook.lines.append(number) }
}

/// What an actor guards. Which executor it has makes no difference to the examples.
protocol Guard: Actor {
    var lines: [Int] { get set }
    var balance: Int { get set }
}

extension Guard {
    func add(_ line: Int) { lines.append(line) }
    func change(_ notebook: Notebook) { notebook.value += 1 }

    /// Stores the lines in a notebook when the tasks have ended.
    func report(to notebook: Notebook) { notebook.lines = lines }

    func withdraw() -> Bool {
        guard balance > 0 else { return false }
        balance -= 1
        return true
    }

    func withdrawLater() async -> Bool {
        guard balance > 0 else { return false }
        await Task.yield()
        balance -= 1
        return true
    }

    fileprivate func start(_ notebook: Notebook) async {
        Task { add(1) }
        Task { add(2) }
        let last = Task {
            add(3)
            report(to: notebook)
        }
        await last.value
    }
}

private actor Account: Guard {
    var lines: [Int] = []
    var balance = 1
}

/// Two tasks withdraw, and the balance is enough for one of them.
func withdrawTwice(_ scenario: Scenario, _ withdraw: @escaping @Sendable () async -> Bool) {
    let notebook = Notebook()
    scenario.task("first") { notebook.value = await withdraw() ? 1 : 0 }
    scenario.task("second") { notebook.other = await withdraw() ? 1 : 0 }
    scenario.check {
        try Scenario.require(notebook.value + notebook.other == 1, "not exactly one succeeds")
    }
}

@MainActor private func write(_ line: Int, to notebook: Notebook) {
    MainActor.preconditionIsolated()
    notebook.lines.append(line)
}

enum Trouble: Error { case any }
private enum Local { @TaskLocal static var number = 0 }

extension TaskExample {
    // MARK: Sharing without protection

    static let shared = [
        TaskExample("two tasks modify one thing", [.overlap]) { scenario, notebook in
            scenario.task("first") { notebook.value += 1 }
            scenario.task("second") { notebook.value += 1 }
        },
        TaskExample("a task that is started is ordered after its start") { scenario, notebook in
            scenario.thread("starter") {
                notebook.value = 1
                Task { notebook.value += 1 }
            }
        },
        TaskExample("but not what comes after the start", [.overlap]) { scenario, notebook in
            scenario.thread("starter") {
                Task { notebook.value += 1 }
                notebook.value = 1
            }
        },
        TaskExample("waiting for a task orders", outcomes: ["2"], task: "waiter") { notebook in
            let task = Task { notebook.value += 1 }
            await task.value
            notebook.value += 1
        },
        TaskExample("waiting for the wrong task does not", [.overlap], task: "waiter") { notebook in
            Task { notebook.value += 1 }
            await Task {}.value
            notebook.value += 1
        },
        TaskExample("two tasks wait for one", outcomes: ["1 1"], task: "starter") { results in
            let notebook = Notebook()
            let started = Task { () -> Int in
                notebook.value = 1
                return notebook.value
            }
            async let first = started.value
            async let second = started.value
            results.lines = await [first, second]
            _ = notebook.value
        },
    ]

    // MARK: Actors

    /// The same for actors with any executor.
    static func examples(
        _ place: String, by makeActor: @escaping @Sendable () -> any Guard
    ) -> [TaskExample] {
        [
            TaskExample(
                "three tasks on one actor come in any order\(place)",
                outcomes: ["1 2 3", "1 3 2", "2 1 3", "2 3 1", "3 1 2", "3 2 1"]
            ) { scenario, notebook in
                let actor = makeActor()
                for number in 1...3 {
                    scenario.task("task \(number) of three") {
                        await actor.add(number)
                        await actor.report(to: notebook)
                    }
                }
            },
            TaskExample("check, await, act\(place)", [.failedCheck]) { scenario in
                let actor = makeActor()
                withdrawTwice(scenario) { await actor.withdrawLater() }
            },
            TaskExample("check and act\(place)") { scenario in
                let actor = makeActor()
                withdrawTwice(scenario) { await actor.withdraw() }
            },
            TaskExample("an actor publishes what was done before\(place)") { scenario, notebook in
                let actor = makeActor()
                scenario.task("writer") {
                    notebook.value = 1
                    await actor.add(1)
                }
                scenario.task("reader") { if await !actor.lines.isEmpty { _ = notebook.value } }
            },
            TaskExample("but not what is done afterwards\(place)", [.dataRace]) {
                scenario, notebook in
                let actor = makeActor()
                scenario.task("writer") {
                    await actor.add(1)
                    notebook.value = 1
                }
                scenario.task("reader") { if await !actor.lines.isEmpty { _ = notebook.value } }
            },
            TaskExample("two actors do not protect one thing\(place)", [.overlap]) {
                scenario, notebook in
                let (first, second) = (makeActor(), makeActor())
                scenario.task("first") { await first.change(notebook) }
                scenario.task("second") { await second.change(notebook) }
            },
            TaskExample(
                "tasks that an actor starts on itself are in order\(place)", outcomes: ["1 2 3"]
            ) { scenario, notebook in
                let actor = makeActor()
                scenario.task("starter") { await actor.start(notebook) }
            },
        ]
    }

    static let actors =
        examples("", by: { Account() }) + [
            TaskExample(
                "a priority changes nothing", outcomes: ["1 2", "2 1"]
            ) { scenario, notebook in
                let account = Account()
                scenario.thread("starter") {
                    Task.detached(priority: .background) {
                        await account.add(1)
                        await account.report(to: notebook)
                    }
                    Task.detached(priority: .high) {
                        await account.add(2)
                        await account.report(to: notebook)
                    }
                }
            },
            TaskExample("the main actor protects", outcomes: ["1 2", "2 1"]) { scenario, notebook in
                scenario.task("first") { await write(1, to: notebook) }
                scenario.task("second") { await write(2, to: notebook) }
            },
            TaskExample("but not against the background", [.overlap]) { scenario, notebook in
                scenario.task("first") { await write(1, to: notebook) }
                scenario.task("second") { notebook.lines.append(2) }
            },
        ]

    // MARK: Continuations

    static let continuations = [
        TaskExample(
            "a continuation orders, also if it is resumed first", outcomes: ["2"], task: "waiter"
        ) { notebook in
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                Task {
                    notebook.value += 1
                    continuation.resume()
                }
                notebook.other = 1
                notebook.other = 2
            }
            notebook.value += 1
        },
        TaskExample("an unsafe one, too", outcomes: ["2"], task: "waiter") { notebook in
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                Task {
                    notebook.value += 1
                    continuation.resume()
                }
                notebook.other = 1
            }
            notebook.value += 1
        },
        TaskExample("a data race hands over the second one", [.dataRace, .deadlock]) { scenario in
            let racy = Racy()
            scenario.task("waiter") {
                await withUnsafeContinuation { $0.resume() }
                await withUnsafeContinuation { racy.continuation = $0 }
            }
            scenario.thread("resumer") { racy.continuation?.resume() }
        },
        TaskExample(
            "what is done after the resumption is not ordered", [.overlap], task: "waiter"
        ) { notebook in
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                Task {
                    continuation.resume()
                    notebook.value += 1
                }
            }
            notebook.value += 1
        },
        TaskExample("a thread resumes a task", outcomes: ["1"]) { scenario, notebook in
            let kept = Shelf<CheckedContinuation<Int, Never>>()
            let ready = DispatchSemaphore(value: 0)
            scenario.task("waiter") {
                notebook.value = await withCheckedContinuation {
                    kept.put($0)
                    ready.signal()
                }
            }
            scenario.thread("resumer") {
                ready.wait()
                kept.take()?.resume(returning: 1)
            }
        },
        TaskExample("an error is thrown to a task", [.uncaughtError], task: "waiter") { _ in
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                Task { continuation.resume(throwing: Trouble.any) }
            }
        },
    ]

    // MARK: Structured concurrency

    static let structured = [
        TaskExample("a child and its parent", [.overlap], task: "parent") { notebook in
            async let child: Void = notebook.change()
            notebook.value += 1
            await child
        },
        TaskExample(
            "a child before its parent goes on", outcomes: ["2"], task: "parent"
        ) { notebook in
            async let child: Void = notebook.change()
            await child
            notebook.value += 1
        },
        TaskExample(
            "children of a group end in any order",
            outcomes: ["1 2 3", "1 3 2", "2 1 3", "2 3 1", "3 1 2", "3 2 1"], task: "parent"
        ) { notebook in
            notebook.lines = await withTaskGroup(of: Int.self) { group in
                for child in 1...3 { group.addTask { child } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        },
        TaskExample(
            "a group orders its children before what follows", outcomes: ["1 1"], task: "parent"
        ) { notebook in
            await withDiscardingTaskGroup { group in
                group.addTask { notebook.value += 1 }
                group.addTask { notebook.other += 1 }
            }
            notebook.lines = [notebook.value, notebook.other]
        },
        TaskExample("an urgent task overtakes one that waits", outcomes: ["1 2", "2 1"]) {
            scenario, notebook in
            let desk = Desk(notebook)
            scenario.task("at the desk") { await desk.open() }
            scenario.task("urgent") { await desk.writeWhenOpen(2) }
        },
        TaskExample(
            "a task that begins immediately", outcomes: ["1 2 3"], task: "starter"
        ) { notebook in
            let task = Task.immediate { notebook.lines.append(1) }
            notebook.lines.append(2)
            await task.value
            notebook.lines.append(3)
        },
        TaskExample("and goes on later", [.overlap], task: "starter") { notebook in
            let task = Task.immediate {
                await Task.yield()
                notebook.lines.append(1)
            }
            notebook.lines.append(2)
            await task.value
        },
    ]

    // MARK: Together with threads and queues

    static let mixed = [
        TaskExample("a lock is one for threads and tasks", outcomes: ["1 2", "2 1"]) { scenario in
            let lines = Protected()
            scenario.thread("thread") { lines.add(1) }
            scenario.task("task") { lines.add(2) }
            scenario.outcome { lines.text }
        },
        TaskExample("a thread and a task", [.overlap]) { scenario, notebook in
            scenario.thread("thread") { notebook.value += 1 }
            scenario.task("task") { notebook.value += 1 }
        },
        TaskExample("the main queue and the main actor are one", outcomes: ["1 2", "2 1"]) {
            scenario, notebook in
            scenario.thread("thread") {
                DispatchQueue.main.async { notebook.lines.append(1) }
            }
            scenario.task("task") { await write(2, to: notebook) }
        },
        TaskExample("what is local to a task", outcomes: ["1 1 0"], task: "task") { notebook in
            await Local.$number.withValue(1) {
                let task = Task { Local.number }
                let detached = Task.detached { Local.number }
                notebook.lines = [Local.number, await task.value, await detached.value]
            }
        },
    ]
}

extension Notebook {
    fileprivate func change() async { value += 1 }
}

/// Room for one value, protected by a lock.
final class Shelf<Value>: @unchecked Sendable {
    private let value = Mutex<Unprotected>(Unprotected())

    private struct Unprotected: @unchecked Sendable { var value: Value? }

    func put(_ new: Value) {
        let new = Unprotected(value: new)
        value.withLock { $0 = new }
    }

    func take() -> Value? {
        value.withLock { kept -> Unprotected in
            defer { kept.value = nil }
            return kept
        }.value
    }

    func look(_ body: (Value) -> Void) {
        let kept = value.withLock { $0 }
        kept.value.map(body)
    }
}
