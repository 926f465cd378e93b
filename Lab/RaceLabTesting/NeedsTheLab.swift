import Foundation
import RaceLab
import Synchronization
import Testing

extension Trait where Self == LabTrait {
    /// Skips a test, with the reason, where the lab is unavailable, as in release builds, on macOS,
    /// and under ThreadSanitizer. Elsewhere the test runs when no other test with this trait does.
    ///
    /// ```swift
    /// @Test(.needsTheLab) func withdrawals() { … }
    /// ```
    ///
    /// Explorations of one process run one after the other in any case. Without the trait, a test
    /// that explores or waits for its turn blocks a thread that could run other tests.
    public static var needsTheLab: Self { LabTrait(turns: .one, explores: true) }

    /// The same for a test that explores in a process of its own, and waits for that process.
    package static var needsTheLabElsewhere: Self {
        LabTrait(turns: .oneForEachProcessor, explores: true)
    }

    /// The same turns, for a test that waits for other processes, and does not need the lab.
    package static var waitsForProcesses: Self {
        LabTrait(turns: .oneForEachProcessor, explores: false)
    }
}

/// The trait of tests that explore, see ``Testing/Trait/needsTheLab``.
public struct LabTrait: TestTrait, SuiteTrait, TestScoping {
    fileprivate let turns: Turns
    fileprivate let explores: Bool

    /// Always true: the trait of a suite also applies to the tests in it.
    public var isRecursive: Bool { true }

    /// Skips the test where the lab cannot work.
    public func prepare(for test: Test) async throws {
        guard explores, let why = Exploration.unavailable else { return }
        try await ConditionTrait.disabled(Comment(rawValue: why)).prepare(for: test)
    }

    /// The trait itself for a test case, which takes a turn; `nil` for a test as a whole.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        testCase == nil ? nil : self
    }

    /// Runs a test case when it has its turn.
    public func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        // A test and its suite can both have the trait.
        if Turns.isTaken { return try await function() }
        // The turn is taken and passed on the threads of `turns`, too, because those that all tasks
        // share may be busy.
        try await withTaskExecutorPreference(turns) {
            await turns.take()
            defer { turns.pass() }
            try await Turns.$isTaken.withValue(true) { try await function() }
        }
    }
}

/// Turns of test cases, in the order in which they ask. A test case with a turn runs outside of the
/// threads that all tasks share, because it blocks its thread.
private final class Turns: TaskExecutor {
    static let one = Turns(1)
    static let oneForEachProcessor = Turns(ProcessInfo.processInfo.activeProcessorCount)

    /// Whether the current test case has a turn.
    @TaskLocal static var isTaken = false

    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "tests that explore", attributes: .concurrent)

    init(_ count: Int) {
        state = Mutex(State(free: count))
    }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free == 0 {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func pass() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
