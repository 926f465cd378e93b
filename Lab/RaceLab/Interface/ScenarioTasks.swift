import CRaceLab

// Tasks of a scenario, and whether tasks can be explored here.

extension Scenario {
    /// Adds a task, which runs concurrently with the threads and tasks of the scenario. An error
    /// that it throws counts as a failure. It is detached: it belongs to no actor, and inherits
    /// nothing.
    public func task(_ name: String, _ body: @escaping @isolated(any) () async throws -> Void) {
        if let actor = body.isolation { isMistaken("the task '\(name)'", isIsolatedTo: actor) }
        if let why = unavailableTasks {
            isMistaken("the task '\(name)' cannot be explored: \(why)")
        }
        let task = unsafeBitCast(body, to: (() async throws -> Void).self)
        add(NamedThread(name: name, body: {}, task: task))
    }
}

/// Why tasks cannot be explored here; `nil` if they can. A task that the code under test starts is
/// then reported as not controlled.
package let unavailableTasks: String? = {
    let obstacle = rl_find_out_about_tasks(
        { _ = Task.detached { await Task.yield() } },
        {
            _ = Task.detached {
                await withTaskCancellationHandler(
                    operation: { await Hop.shared.arrive() }, onCancel: {})
            }
        },
        {
            let continuation = AsyncStream.makeStream(of: Int.self).continuation
            continuation.yield(1)
            continuation.yield(2)
        })
    return obstacle.map { String(cString: $0) }
}()

private actor Hop {
    static let shared = Hop()

    private var count = 0

    func arrive() { count += 1 }
}

/// Starts a task in place of a body of the scenario. No other thread uses the closures meanwhile.
func startTask(_ body: @escaping () async throws -> Void, _ failed: @escaping (any Error) -> Void) {
    let body = unsafeBitCast(body, to: (@Sendable () async throws -> Void).self)
    let failed = unsafeBitCast(failed, to: (@Sendable (any Error) -> Void).self)
    rl_listen()
    rl_becomes_task()
    _ = Task.detached {
        do {
            try await body()
        } catch {
            rl_ignore()
            failed(error)
            rl_attend()
        }
    }
    rl_deafen()
}
