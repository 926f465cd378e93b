import CRaceLab
import Canaries
import Foundation
import Synchronization

extension Exploration.Options {
    /// The process in which the scenario of an exploration runs.
    public enum Isolation: Hashable, Sendable {
        /// In this process. A crash of the code under test is a crash of this process.
        case none
        /// In child processes, copies of this one (`fork`), on Linux. An interleaving that crashes
        /// is a finding, and the exploration continues with the others in another child. The 65th
        /// crash ends the exploration, and ``Exploration/coverage`` says so.
        ///
        /// Three things are different in a child:
        /// - If the closures of the scenario change a global or a captured variable, the change is
        ///   visible in the child only.
        /// - It has none of the other threads of this process. A lock that they held at the `fork`
        ///   is never released, and work sent to a dispatch queue or to a task is never done.
        /// - Its output on standard error appears when it has ended, without the message of a
        ///   crash, which is part of the finding.
        ///
        /// - Parameters:
        ///   - timeLimit: the time limit for all children together. An endless loop is detected
        ///     much earlier.
        ///   - memoryLimit: the number of bytes that a child may allocate, in addition to the
        ///     memory that it starts with.
        case childProcess(timeLimit: Duration = .seconds(60), memoryLimit: Int = 1 << 30)
    }
}

/// An interleaving that crashed its process.
struct KnownCrash: Sendable {
    let schedule: Exploration.Schedule
    let reason: String
    /// The number of interleavings explored before it.
    let runs: Int
}

/// The known crashes in the engine's representation, in memory that this object owns.
final class KnownCrashes {
    private let choices: [UnsafeMutableBufferPointer<UInt32>]
    private let table: UnsafeMutableBufferPointer<rl_crash>

    init(_ crashes: [KnownCrash]) {
        choices = crashes.map { crash in
            let buffer = UnsafeMutableBufferPointer<UInt32>.allocate(
                capacity: crash.schedule.choices.count)
            _ = buffer.initialize(from: crash.schedule.choicesOfEngine)
            return buffer
        }
        table = .allocate(capacity: crashes.count)
        _ = table.initialize(
            from: choices.map { rl_crash(schedule: $0.baseAddress, length: UInt32($0.count)) })
    }

    deinit {
        choices.forEach { $0.deallocate() }
        table.deallocate()
    }

    var all: UnsafePointer<rl_crash>? { UnsafePointer(table.baseAddress) }
}

/// A message from a child process to its parent.
enum Message: Codable {
    /// The child begins to probe a family, or has probed all of them.
    case probes(Canaries.Family)
    case families([Exploration.Family])
    case scenario(threads: [String], columns: [String], isChecked: Bool)
    case initial([String])
    case states(step: Int, [String])
    case note(step: Int, String)
    /// The encoded result of the child's work.
    case value(Data)
}

/// Writes each message to a pipe immediately, as one line, so that it arrives even if the process
/// crashes next.
final class ChildReporter: Sendable {
    private let pipe: FileHandle
    private let hasNamed = Atomic(false)

    init(pipe: Int32) {
        self.pipe = FileHandle(fileDescriptor: pipe, closeOnDealloc: false)
    }

    /// Called at the beginning of each run. All runs have the same threads, so only the first call
    /// sends a message.
    func isSetUp(_ scenario: Scenario) {
        if hasNamed.exchange(true, ordering: .relaxed) { return }
        tell(
            .scenario(
                threads: scenario.threads.map(\.name), columns: scenario.columns.map(\.title),
                isChecked: !scenario.checks.isEmpty || scenario.readOutcome != nil))
    }

    func tell(_ message: Message) {
        guard var line = try? JSONEncoder().encode(message) else { return }
        line.append(UInt8(ascii: "\n"))
        try? pipe.write(contentsOf: line)
    }
}

/// A value behind a lock that can be held during a `fork`, see ``Isolated``. The child could not
/// release a `Mutex`: a `Mutex` knows its owner by thread ID, which is different in the child.
final class ForkSafeLock<Value>: @unchecked Sendable {
    private var value: Value
    private let lock = NSLock()

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// For ``Isolated``: between these calls, no other thread can be in the middle of a change.
    func hold() { lock.lock() }
    func release() { lock.unlock() }
}
