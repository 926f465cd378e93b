import CRaceLab
import Foundation
import RaceLab

/// The process in which an answer runs. It records each requirement before it starts, so that the
/// grader knows which one was running if the process ends.
public struct GraderProcess {
    /// One line of the record.
    enum Line: Codable {
        case begins(String)
        /// A requirement that is met has a token: see ``Tokens``.
        case ends(String, Requirement.Verdict, token: String?)
        case replayed(Report, verdict: [Report.Span])
        case written(String)
        case mismatch(String)
        case unavailable(String)
    }

    private let exercise: Exercise
    private let library: URL
    private let record: FileHandle
    /// The file with the number of the program that runs.
    private let program: URL
    private let tokens: [String]

    /// - Parameter record: the file to which the lines are written.
    public init?(_ exercise: Exercise, library: URL, record: URL) {
        _ = FileManager.default.createFile(atPath: record.path, contents: nil)
        guard let handle = try? FileHandle(forWritingTo: record) else { return nil }
        self.exercise = exercise
        self.library = library
        self.record = handle
        program = GraderProcess.program(besides: record)
        tokens = Tokens.received()
    }

    /// The file with the number of the program that runs: see ``Patience/begin(program:)``.
    static func program(besides record: URL) -> URL { record.appendingPathExtension("program") }

    /// Checks the requirements in order, up to the first that is not met.
    ///
    /// - Parameters:
    ///   - only: the id of the only requirement to check.
    ///   - isolated: whether a crash in a scenario is caught in a child process, and reported like
    ///     other failures.
    ///   - optimized: the ids of the requirements to check, if the library is compiled with
    ///     optimization.
    public func run(
        _ limits: Limits, only: String? = nil, isolated: Bool = false, optimized: [String]? = nil
    ) {
        impose(limits)
        Patience.count(in: program)
        guard let answer = load() else { return }
        let requirements =
            only.map { exercise.requirement($0).map { [$0] } ?? [] }
            ?? exercise.requirements.filter { optimized?.contains($0.id) != false }
        for (index, requirement) in requirements.enumerated() {
            write(.begins(requirement.id))
            Patience.renew()
            let verdict = requirement.run(
                on: answer, isolated: isolated, isOptimized: optimized != nil)
            var token: String?
            if case .fails = verdict {} else if index < tokens.count { token = tokens[index] }
            write(.ends(requirement.id, verdict, token: token))
            if case .fails = verdict { return }
        }
    }

    /// Runs one interleaving and records its table, and then, if it fails, the table with a mark at
    /// the step from which every interleaving fails.
    public func replay(_ id: String, _ schedule: String, _ limits: Limits, isolated: Bool) {
        use(id, limits) { requirement, answer in
            let written = { (marked: Bool) in
                let (trace, verdict) = try requirement.replayed(
                    answer, schedule, marked: marked, isolated: isolated)
                return Line.replayed(trace.report(width: TableWidth.now), verdict: verdict)
            }
            write(try written(false))
            if let marked = try? written(true) { write(marked) }
        }
    }

    /// Records a text about the scenario with which a requirement is checked, such as a page.
    public func describe(
        _ id: String, _ limits: Limits,
        _ text: (Requirement, Exploration.Options, @escaping (Scenario) -> Void) throws -> String
    ) {
        use(id, limits) { requirement, answer in
            guard let (usual, scenario) = requirement.scenario(of: requirement.body(answer))
            else { return }
            var options = usual
            func written() throws -> String {
                try text(requirement, options) {
                    Patience.renew()
                    scenario($0)
                }
            }
            do {
                write(.written(try written()))
            } catch {
                // As in `Requirement.exploration`.
                options.timeOutsFireAtAnyTime = false
                write(.written(try written()))
            }
        }
    }

    private func use(
        _ id: String, _ limits: Limits, _ work: (Requirement, AnyObject) throws -> Void
    ) {
        impose(limits)
        guard let answer = load(), let requirement = exercise.requirement(id) else { return }
        do {
            try work(requirement, answer)
        } catch {
            write(.mismatch("\(error)"))
        }
    }

    private func write(_ line: Line) {
        guard var data = try? JSONEncoder().encode(line) else { return }
        data.append(UInt8(ascii: "\n"))
        do {
            try record.write(contentsOf: data)
        } catch {
            GraderProcess.endWithoutRecord()
        }
    }

    /// The answer has closed the record, so no verdict will reach the grader.
    private static func endWithoutRecord() -> Never { _exit(0) }

    // MARK: The answer

    /// The object that the adapter creates.
    private func load() -> AnyObject? {
        if let obstacle = exercise.obstacle() {
            write(.unavailable(obstacle))
            return nil
        }
        GraderProcess.settleMemory()
        guard let handle = dlopen(library.path, RTLD_NOW | RTLD_LOCAL) else {
            write(
                .unavailable(
                    "the answer could not be loaded: \(dlerror().map { String(cString: $0) } ?? "")"
                ))
            return nil
        }
        guard let symbol = dlsym(handle, "the_answer") else {
            write(.unavailable("no adapter has a function the_answer"))
            return nil
        }
        typealias Maker = @convention(c) () -> UnsafeMutableRawPointer
        let make = unsafeBitCast(symbol, to: Maker.self)
        return Unmanaged<AnyObject>.fromOpaque(make()).takeRetainedValue()
    }

    private static let isIdle = DispatchSemaphore(value: 0)
    /// It lives as long as the process, so that nothing is freed when it has run.
    private nonisolated(unsafe) static let signalling = DispatchWorkItem { isIdle.signal() }

    /// From now on, memory is usually allocated at the same addresses in every run, because some
    /// answers order objects by their addresses. The threads that Dispatch has started until now
    /// have allocated and freed memory at the same time as this thread, in an order of their own.
    private static func settleMemory() {
        #if os(Linux)
            // The timer follows everything that the thread which manages the others has to do.
            DispatchQueue.global().asyncAfter(deadline: .now(), execute: signalling)
            isIdle.wait()
            // What lies below this address is used up, and what lies above is the same in every run.
            let step = 1 << 24
            guard let end = sbrk(0) else { return }
            let edge = (UInt(bitPattern: end) / UInt(step) + 1) * UInt(step)
            sbrk(Int(edge - UInt(bitPattern: end)))
            for size in (5..<12).map({ 1 << (21 - $0) }) + stride(from: 1_008, to: 0, by: -16) {
                while let block = malloc(size), UInt(bitPattern: block) < edge {}
            }
        #endif
    }

    // MARK: Limits

    /// Applies to this process, and is called before the answer is loaded.
    private func impose(_ limits: Limits) {
        // The parent process may have blocked signals, and the mask is inherited.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        signal(SIGXCPU, SIG_DFL)
        signal(SIGXFSZ, SIG_DFL)
        // An answer that sleeps in each call would take hours.
        rl_skip_sleeps()
        // When this is called depends on time, so it must not allocate: see ``Child``.
        Patience.begin(limits.seconds) { [descriptor = record.fileDescriptor] in
            var newline = UInt8(ascii: "\n")
            if Foundation.write(descriptor, &newline, 1) < 1 { GraderProcess.endWithoutRecord() }
        }
        allow(limits.output, of: RLIMIT_FSIZE)
        allow(0, of: RLIMIT_CORE)
        #if os(Linux)
            // Most of the address space of a program has no memory behind it; the limit counts what
            // is added.
            let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
            let pages = text.split(separator: " ").first.flatMap { Int($0) } ?? 0
            allow(pages * Int(getpagesize()) + limits.memory, of: RLIMIT_AS)
        #endif
    }
}

extension Exercise {
    /// The reason why its answers cannot be explored on this system; `nil` if they can.
    func obstacle(
        lab: String? = Exploration.unavailable, tasks: String? = unavailableTasks
    ) -> String? {
        lab ?? (usesTasks ? tasks.map { "tasks cannot be explored here: \($0)" } : nil)
    }
}

/// The time in which an answer must complete an interleaving or a requirement. Each completion
/// restarts the count: an exploration is limited by the number of interleavings, so that a verdict
/// does not depend on the speed of the machine.
enum Patience {
    private struct State {
        var seconds: Int?
        var giveSignOfLife: () -> Void = {}
        var lastSign = Patience.elapsed().all
        var record: Int32 = -1
    }

    /// Seconds since a fixed moment, and seconds of processor time of this process. In a scenario,
    /// the lab stops all clocks that an answer is likely to read, but not this one.
    private static func elapsed() -> (all: Int, processor: Int) {
        var used = tms()
        let all = times(&used)
        let second = sysconf(Int32(_SC_CLK_TCK))
        return (Int(all) / second, Int(used.tms_utime + used.tms_stime) / second)
    }

    nonisolated(unsafe) private static var state = State()

    /// Called in the process that runs an answer, before the answer is loaded.
    static func begin(_ seconds: Int, _ giveSignOfLife: @escaping () -> Void) {
        state.seconds = seconds
        state.giveSignOfLife = giveSignOfLife
        renew()
    }

    /// Called at the beginning of each program of a requirement, whose number is recorded for the
    /// case that it ends the process.
    static func begin(program: Int) {
        renew()
        guard state.record >= 0 else { return }
        var number = Int64(program)
        pwrite(state.record, &number, 8, 0)
    }

    /// Called before the answer is loaded.
    static func count(in file: URL) {
        state.record = open(file.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    }

    /// Called at the beginning of each interleaving.
    static func renew() {
        guard let seconds = state.seconds else { return }
        let elapsed = elapsed()
        allow(elapsed.processor + 1 + seconds, of: RLIMIT_CPU, forGood: false)
        guard elapsed.all > state.lastSign + 1 else { return }
        state.lastSign = elapsed.all
        state.giveSignOfLife()
    }
}

#if os(Linux)
    private typealias Resource = __rlimit_resource
#else
    private typealias Resource = Int32
#endif

/// Limits what this process can use of a resource.
///
/// - Parameter forGood: whether the limit can never be raised again.
private func allow(_ amount: Int, of resource: Resource, forGood: Bool = true) {
    #if os(Linux)
        let resource = __rlimit_resource_t(resource.rawValue)
    #endif
    var limit = rlimit()
    getrlimit(resource, &limit)
    if forGood { limit.rlim_max = rlim_t(amount) }
    limit.rlim_cur = min(rlim_t(amount), limit.rlim_max)
    setrlimit(resource, &limit)
}

/// A random word for each requirement, by which the grader recognizes its own verdicts. The answer
/// runs in the process that writes the record, so it could write the same lines. But it does not
/// know the words: the process reads them before it loads the answer, and returns each of them when
/// its requirement is met.
enum Tokens {
    static func made(for requirements: [Requirement]) -> [String] {
        requirements.map { _ in
            // All of the same length, so that they take the same memory.
            (0..<2).map { _ in
                String(UInt64.random(in: 4_738_381_338_321_616_896 ... .max), radix: 36)
            }.joined()
        }
    }

    static func text(_ tokens: [String]) -> String { tokens.joined(separator: " ") + "\n" }

    /// Reads the tokens from standard input, which stays open as long as the grader lives. When the
    /// grader is gone, this process kills its own group.
    fileprivate static func received() -> [String] {
        var (line, byte): ([UInt8], UInt8) = ([], 0)
        while read(0, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        let tokens = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
        guard !tokens.isEmpty, getpgrp() == getpid() else { return tokens }
        let begun = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            var byte: UInt8 = 0
            begun.signal()
            while read(0, &byte, 1) > 0 {}
            kill(0, SIGKILL)
        }
        // What the thread allocates is allocated now, in every run.
        begun.wait()
        return tokens
    }
}
