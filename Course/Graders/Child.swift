import Foundation
import Synchronization

#if os(Linux)
    @_silgen_name("personality")
    private func personality(_ flags: UInt) -> Int32
#endif

/// Runs a program with a time limit, and writes its output to a file. The process leads a process
/// group that is killed as a whole, so no process that it has started outlives it.
enum Child {
    enum Ending: Equatable {
        case status(Int32)
        case signal(Int32)
        case tookTooLong
        case didNotStart(String)
    }

    /// With deterministic hashing, a dictionary has the same order in every run of a scenario, so
    /// that an answer may keep its handlers in one.
    private static let settings = [
        "SWIFT_BACKTRACE": "enable=no", "SWIFT_DETERMINISTIC_HASHING": "1",
        // Each further arena of the allocator reserves 64 MB, in vain: one thread runs at a time.
        "MALLOC_ARENA_MAX": "1",
        // A thread that ends would return the memory in its cache at any time.
        "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
    ]

    /// The running process groups: see ``Interruption``.
    static let groups = Mutex<Set<pid_t>>([])

    /// - Parameters:
    ///   - input: the program's standard input, which stays open until this process ends.
    ///   - limit: how long it may wait without a change of `pulse`. On Linux, a program that uses
    ///     the processor, or is ready to, does not wait, however busy the machine is.
    ///   - pulse: a number that changes as long as the program makes progress.
    static func run(
        _ program: URL, _ arguments: [String], input: String = "", output: URL,
        atMost limit: Duration, pulse: () -> Int = { 0 }
    ) -> Ending {
        let pipe = Pipe()
        let (reading, writing) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
        // Another child that starts now must not keep the input of this one open.
        _ = fcntl(reading.fileDescriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(writing.fileDescriptor, F_SETFD, FD_CLOEXEC)
        defer { try? writing.close() }
        let (id, error) = start([program.path] + arguments, reading.fileDescriptor, output)
        try? reading.close()
        guard error == 0 else { return .didNotStart(String(cString: strerror(error))) }
        groups.withLock { _ = $0.insert(id) }
        try? writing.write(contentsOf: Data(input.utf8))
        let hasEnded = waitForEnd(of: id, limit, pulse)
        // The group leader has not been reaped yet, so the id of the group has not been reused.
        kill(-id, SIGKILL)
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        groups.withLock { _ = $0.remove(id) }
        if !hasEnded { return .tookTooLong }
        let signal = status & 0x7f
        return signal == 0 ? .status(status >> 8 & 0xff) : .signal(signal)
    }

    private static func waitForEnd(of id: pid_t, _ limit: Duration, _ pulse: () -> Int) -> Bool {
        let ended = DispatchSemaphore(value: 0)
        let waiter = Thread {
            var information = siginfo_t()
            while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            ended.signal()
        }
        waiter.start()
        let seconds = Double(limit.components.seconds)
        var last = (pulse: pulse(), used: processorTime(of: id))
        while ended.wait(timeout: .now() + seconds) == .timedOut {
            let now = (pulse: pulse(), used: processorTime(of: id))
            // A hundredth: one that looks again and again whether it may go on waits, too.
            let waits = now.pulse == last.pulse && now.used - last.used < seconds / 100
            if waits, !isHeldUp(id) { return false }
            last = now
        }
        return true
    }

    /// In seconds, of all threads of the process; 0 where another process cannot be asked.
    private static func processorTime(of id: pid_t) -> Double {
        #if os(Linux)
            var clock = clockid_t()
            var time = timespec()
            guard clock_getcpuclockid(id, &clock) == 0, clock_gettime(clock, &time) == 0
            else { return 0 }
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        #else
            return 0
        #endif
    }

    /// Whether a thread of the process is ready to run, or waits for a disk. Then it makes no
    /// progress only because the machine is busy. False where there is no `/proc`.
    static func isHeldUp(_ id: pid_t) -> Bool {
        let tasks = "/proc/\(id)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return threads.contains { thread in
            let text =
                (try? String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8)) ?? ""
            // The state follows the name, which is in parentheses.
            return text.split(separator: ")").last?.dropFirst().first.map("RD".contains) ?? false
        }
    }

    /// The child has default signal handling, whatever this process has set.
    private static func start(
        _ words: [String], _ input: Int32, _ output: URL
    ) -> (pid_t, error: Int32) {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_addopen(
            &actions, 1, output.path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments = words.map { strdup($0) } + [nil]
        let variables = environment(output).sorted { $0.key < $1.key }
        var environment = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in arguments + environment { free(word) } }
        var id: pid_t = 0
        let error = withFixedAddresses {
            posix_spawn(&id, words[0], &actions, &attributes, &arguments, &environment)
        }
        return (id, error)
    }

    /// A process that is started here has its memory at the same addresses each time, so that an
    /// answer that orders objects by their addresses is judged in the same way each time. (On
    /// Linux, unless the system forbids it.)
    private static func withFixedAddresses(_ start: () -> Int32) -> Int32 {
        #if os(Linux)
            let (current, fixed): (UInt, UInt) = (0xFFFF_FFFF, 0x004_0000)
            let before = personality(current)
            guard before >= 0, personality(UInt(before) | fixed) >= 0 else { return start() }
            defer { _ = personality(UInt(before)) }
        #endif
        return start()
    }

    /// The child's temporary files are removed together with the folder of its output.
    private static func environment(_ output: URL) -> [String: String] {
        ProcessInfo.processInfo.environment.merging(settings) { $1 }
            .merging(["TMPDIR": output.deletingLastPathComponent().path]) { $1 }
    }

    /// The first lines of its output.
    static func beginning(of output: URL, lines: Int) -> String {
        guard let file = try? FileHandle(forReadingFrom: output) else { return "" }
        defer { try? file.close() }
        let data = (try? file.read(upToCount: 1 << 16)) ?? Data()
        return String(decoding: data, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
            // A backtrace after a crash shows this program rather than the answer.
            .prefix { !$0.hasPrefix("Current stack trace:") }
            // What the lab advises is for the author of a scenario.
            .filter { !$0.contains("use a child process:") && !$0.contains("options.isolation") }
            .prefix(lines).joined(separator: "\n")
    }
}
