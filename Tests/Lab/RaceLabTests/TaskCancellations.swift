import RaceLab

// Tasks that are cancelled, by a call or because their parent ends, and what they sleep for.

private struct Failure: Error {}

/// What tasks have done, in order.
private typealias Log = Scenario.Log<String>

private func cancelled() -> String { Task.isCancelled ? "cancelled" : "running" }

/// Waits on the model's clock, where no real time passes.
private func waitOrWake(_ log: Log) async {
    do {
        try await Task.sleep(for: .seconds(1))
        log.append("slept")
    } catch {
        log.append("woken")
    }
}

private func refuse<Refusal: Error>(_ reason: Refusal) throws(Refusal) { throw reason }

/// Appends a number after as many seconds of model time.
private func write(_ seconds: Int, _ lines: Protected) async {
    try? await Task.sleep(for: .seconds(seconds))
    lines.add(seconds)
}

extension TaskExample {
    private init(
        _ description: String, outcomes: Set<String>,
        log describe: @escaping @Sendable (Log) async -> Void
    ) {
        self.init(description, outcomes: outcomes) { scenario in
            let log = Log()
            scenario.task("parent") { await describe(log) }
            scenario.outcome { log.entries.joined(separator: " ") }
        }
    }

    static let cancellation = [
        TaskExample("cancellation against completion", outcomes: ["1", "2"]) { scenario, notebook in
            let kept = Shelf<CheckedContinuation<Int, Never>>()
            scenario.task("canceller") {
                let task = Task {
                    await withTaskCancellationHandler {
                        await withCheckedContinuation { continuation in
                            kept.put(continuation)
                            if Task.isCancelled { kept.take()?.resume(returning: 1) }
                        }
                    } onCancel: {
                        kept.take()?.resume(returning: 1)
                    }
                }
                Task { kept.take()?.resume(returning: 2) }
                task.cancel()
                notebook.value = await task.value
            }
        },
        // The task that wakes up first need not be the first to take a step.
        TaskExample("two tasks sleep", outcomes: ["1 2", "2 1"]) { scenario in
            let lines = Protected()
            scenario.task("parent") {
                async let long: Void = write(2, lines)
                async let short: Void = write(1, lines)
                _ = await (long, short)
            }
            scenario.outcome { lines.text }
        },
        TaskExample("an error of a cancelled task", [.uncaughtError], task: "canceller") { _ in
            let task = Task { try Task.checkCancellation() }
            task.cancel()
            try await task.value
        },
    ]

    static let implicitCancellations = [
        TaskExample("a group is cancelled", outcomes: ["running", "cancelled"]) { log in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { log.append(cancelled()) }
                group.cancelAll()
            }
        },
        TaskExample("a throwing group is cancelled", outcomes: ["running", "cancelled"]) { log in
            try? await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { log.append(cancelled()) }
                group.cancelAll()
                try await group.waitForAll()
            }
        },
        TaskExample("a discarding group is cancelled", outcomes: ["running", "cancelled"]) { log in
            await withDiscardingTaskGroup { group in
                group.addTask { log.append(cancelled()) }
                group.cancelAll()
            }
        },
        TaskExample(
            "a throwing, discarding group is cancelled", outcomes: ["running", "cancelled"]
        ) { log in
            try? await withThrowingDiscardingTaskGroup { group in
                group.addTask { log.append(cancelled()) }
                group.cancelAll()
            }
        },
        TaskExample("an async let is left", outcomes: ["running", "cancelled"]) { log in
            async let _: Void = log.append(cancelled())
        },
        TaskExample("an async let is left while it sleeps", outcomes: ["slept", "woken"]) { log in
            async let _: Void = waitOrWake(log)
            await Task.yield()
        },
        TaskExample(
            "a task is cancelled before it registers a handler",
            outcomes: ["handler after", "after handler"]
        ) { log in
            let task = Task {
                await withTaskCancellationHandler {
                    while !Task.isCancelled { await Task.yield() }
                } onCancel: {
                    log.append("handler")
                }
            }
            task.cancel()
            log.append("after")
            await task.value
        },
        TaskExample(
            "a task is cancelled when its operation ends",
            outcomes: ["handler operation", "operation handler", "operation"]
        ) { log in
            let task = Task {
                await withTaskCancellationHandler {
                    log.append("operation")
                } onCancel: {
                    log.append("handler")
                }
            }
            task.cancel()
            await task.value
        },
        TaskExample(
            "an operation throws, and another one has a value",
            outcomes: ["12 failed 11", "cancelled 12 failed 11"]
        ) { log in
            let task = Task {
                let number = 11
                var text = ""
                do {
                    try await withTaskCancellationHandler {
                        text += "\(await withTaskCancellationHandler { 12 } onCancel: {}) "
                        try refuse(Failure())
                    } onCancel: {
                        log.append("cancelled")
                    }
                } catch { text += "failed " }
                log.append(text + "\(number)")
            }
            task.cancel()
            await task.value
        },
        TaskExample("the body of a group throws", outcomes: ["running", "cancelled"]) { log in
            try? await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { log.append(cancelled()) }
                throw Failure()
            }
        },
        TaskExample("a body throws an error of a known type", outcomes: ["running", "cancelled"]) {
            log in
            try? await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { log.append(cancelled()) }
                try refuse(Failure())
            }
        },
        TaskExample("a child of a group throws", outcomes: ["slept caught", "woken caught"]) {
            log in
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { throw Failure() }
                    group.addTask { await waitOrWake(log) }
                    for try await _ in group {}
                }
            } catch {
                log.append("caught")
            }
        },
        TaskExample("a child of a discarding group throws", outcomes: ["slept", "woken"]) { log in
            try? await withThrowingDiscardingTaskGroup { group in
                group.addTask { throw Failure() }
                group.addTask { await waitOrWake(log) }
            }
        },
        TaskExample("a task cancels itself", outcomes: ["running", "cancelled"]) { log in
            async let child: Void = log.append(cancelled())
            withUnsafeCurrentTask { $0?.cancel() }
            await child
        },
        TaskExample(
            "a group is cancelled while a child sleeps",
            outcomes: ["slept left", "left woken", "left slept"]
        ) { log in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await waitOrWake(log) }
                log.append("left")
                group.cancelAll()
            }
        },
        TaskExample("a task is added unless it is cancelled", outcomes: ["true", "false"]) { log in
            let task = Task {
                await withTaskGroup(of: Void.self) { group in
                    log.append("\(group.addTaskUnlessCancelled {})")
                }
            }
            task.cancel()
            await task.value
        },
        TaskExample("one task asks whether another is cancelled", outcomes: ["true", "false"]) {
            log in
            let task = Task {}
            async let cancellation: Void = task.cancel()
            log.append("\(task.isCancelled)")
            await cancellation
        },
        asking("a task") { withUnsafeCurrentTask { $0!.isCancelled } },
        TaskExample(
            "an error cancels a group, right after another task was cancelled",
            outcomes: ["running false", "running true", "cancelled false", "cancelled true"]
        ) { log in
            let other = Task {}
            let sibling = Change()
            try? await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { throw Failure() }
                group.addTask {
                    let state = cancelled()
                    log.append("\(state) \(sibling.isSet)")
                }
                group.addTask { if Task.isCancelled { sibling.set() } }
                other.cancel()
                try await group.next()
            }
        },
        TaskExample(
            "a child that begins at once is cancelled with its group",
            outcomes: ["running running", "running cancelled", "cancelled cancelled"]
        ) { log in
            await withTaskGroup(of: Void.self) { group in
                guard #available(macOS 26.0, *) else { return }
                group.addImmediateTask {
                    await Task.yield()
                    let before = cancelled()
                    await Task.yield()
                    log.append("\(before) \(cancelled())")
                }
                group.cancelAll()
            }
        },
        asking("a group") { await withTaskGroup(of: Void.self) { $0.isCancelled } },
        asking("a throwing group") {
            await withThrowingTaskGroup(of: Void.self) { $0.isCancelled }
        },
        asking("a discarding group") { await withDiscardingTaskGroup { $0.isCancelled } },
        asking("a throwing, discarding group") {
            try await withThrowingDiscardingTaskGroup { $0.isCancelled }
        },
    ]

    private static func asking(
        _ name: String, _ ask: @escaping @Sendable () async throws -> Bool
    ) -> TaskExample {
        TaskExample("\(name) asks whether it is cancelled", outcomes: ["true", "false"]) { log in
            let task = Task { log.append("\(try await ask())") }
            task.cancel()
            _ = await task.result
        }
    }
}
