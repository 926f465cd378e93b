import CRaceLab
import Canaries
import Foundation

/// The messages that a child process sent, and the record that it left in shared memory.
struct ChildResult {
    private(set) var value: Data?
    /// The family that it was probing when it ended; `nil` if it was not probing.
    private(set) var probes: Canaries.Family?
    private var named: [String] = []
    private var columns: [String] = []
    /// Whether the scenario has a check, or describes its outcome.
    private var isChecked = false
    private var initial: [String] = []
    private var states: [Int: [String]] = [:]
    private var notes: [Int: String] = [:]

    let timeIsUp: Bool
    /// Whether all its threads slept for seconds without progress, including its watcher.
    let isStuck: Bool
    /// How long the child ran.
    let time: Duration
    /// The text that it wrote to standard error.
    let errors: String
    /// The number of interleavings that it explored.
    let runs: Int
    private let status: Int32
    private let recorder: rl_recorder
    private let steps: [rl_step]

    init(_ child: rl_child) {
        timeIsUp = child.time_is_up
        isStuck = child.is_stuck
        time = .milliseconds(child.milliseconds)
        status = child.status
        recorder = child.recorder.pointee
        runs = Int(recorder.runs)
        steps = Array(
            UnsafeBufferPointer(
                start: rl_recorded_steps(child.recorder), count: Int(recorder.step_count)))
        errors = ChildResult.text(child.errors, child.error_count)
        let decoder = JSONDecoder()
        for line in ChildResult.text(child.results, child.result_count).split(separator: "\n") {
            if let message = try? decoder.decode(Message.self, from: Data(line.utf8)) {
                receive(message)
            }
        }
    }

    private static func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
        guard let bytes else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private mutating func receive(_ message: Message) {
        switch message {
        case .probes(let family): probes = family
        case .families(let families):
            probes = nil
            Families.learn(families)
        case .scenario(let threads, let columns, let isChecked):
            named = threads
            self.isChecked = isChecked
            self.columns = columns
        case .initial(let state): initial = state
        case .states(let step, let state): states[step] = state
        case .note(let step, let text): notes[step] = text
        case .value(let data): value = data
        }
    }

    var schedule: Exploration.Schedule { Exploration.Schedule(steps) }

    var threads: [String] {
        StartedThreads(
            count: Int(recorder.thread_count), tasks: recorder.tasks,
            queueThreads: recorder.queue_threads
        ).names(after: named)
    }

    // MARK: How it ended

    /// Why the code under test did not end the process; `nil` if it did.
    var foreignEnd: String? {
        let sentence = withUnsafeBytes(of: recorder.lab_ended_it) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if !sentence.isEmpty { return sentence }
        guard status & 0x7F == SIGKILL else { return nil }
        return "another process ended the child process (SIGKILL), or the operating system did, "
            + "for lack of memory"
    }

    /// Describes the crash in a sentence. Interleavings with the same sentence are counted
    /// together.
    var reason: String {
        if status & 0x7F == 0 {
            return "\(who) ends the process with status \(status >> 8 & 0xFF)"
        }
        let crash = Crash(
            signal: status & 0x7F, isOverflow: recorder.overflow,
            address: UInt(recorder.crash_pc),
            frames: elements(of: recorder.frames, recorder.frame_count))
        return crash.sentence(who, message: fatalError)
    }

    private var who: String {
        if let thread { return "'\(thread)'" }
        guard rl_phase(UInt32(recorder.phase)) == RL_JUDGING else { return "set-up" }
        return isChecked ? "a check" : "after the threads have ended, the process"
    }

    /// The thread of the scenario that was running; `nil` if none was.
    var thread: String? {
        let index = Int(recorder.thread)
        let isRunning = rl_phase(UInt32(recorder.phase)) == RL_IN_THREAD
        return isRunning && threads.indices.contains(index) ? threads[index] : nil
    }

    /// The beginnings of what the Swift runtime and the C library write before they end a process.
    private static let marks = [
        "Fatal error", "Precondition failed", "Assertion failed", "Could not cast value of type",
        "Incorrect actor executor assumption", "Simultaneous accesses to", "free(): ", "malloc(): ",
        "double free or corruption", "freed pointer was not the last allocation",
    ]

    private var mark: Range<String.Index>? {
        ChildResult.marks.compactMap { errors.range(of: $0, options: .backwards) }
            .max { $0.lowerBound < $1.lowerBound }
    }

    /// The message about a trap; only its kind if it has no message. Addresses are left out,
    /// because they differ from run to run.
    private var fatalError: String? {
        guard let mark else { return nil }
        let line = errors[mark.lowerBound...].prefix { $0 != "\n" }
        let message = line.replacing(
            #/( to)? \(?0x[0-9a-f]+\)?|\(unknown context at \$[0-9a-f]+\)\./#, with: "")
        return String(
            message.replacing(#/^(Fatal error|(Precondition|Assertion) failed): /#, with: ""))
    }

    /// The text before the message about the crash; all of it if there is no such message.
    var errorsBesidesTheCrash: String {
        guard let mark else { return errors }
        let before = errors[..<mark.lowerBound]
        return String(
            before[..<(before.lastIndex(of: "\n").map(errors.index(after:)) ?? before.startIndex)])
    }

    // MARK: Its last interleaving

    /// The trace up to the crash, which is marked.
    func trace(reason: String) -> Exploration.Trace {
        let atCrash = initial.map { _ in "" }
        var trace = Exploration.Trace(
            threads: threads, columns: Array(columns.prefix(initial.count)), initial: initial,
            steps: Exploration.Trace.Step.all(of: steps) {
                states[$0] ?? ($0 == steps.count - 1 ? atCrash : nil)
            },
            findings: [Exploration.Finding(.said(.crash, reason), count: 1, schedule: schedule)],
            waiting: [])
        trace.add(notes: notes)
        trace.mark(step: steps.count - 1, reason)
        return trace
    }
}

extension Exploration.Site {
    /// Whether the site is in a source file that can be read and is not part of the lab.
    var isOfProgram: Bool {
        !["/CRaceLab/", "/Lab/RaceLab/", "<compiler-generated>"].contains(where: path.contains)
            && FileManager.default.isReadableFile(atPath: path)
    }
}
