import Foundation
import RaceLab

/// The process in which an answer is tried. It writes down what it is about to do before it does it,
/// so that whoever has started it knows where an answer came to grief that ended the process.
public struct GraderProcess {
    /// One line of what it writes.
    enum Line: Codable {
        case begins(String)
        /// A requirement that is met comes with its token: see ``Tokens``.
        case ends(String, Requirement.Verdict, token: String?)
        case replayed(String)
        case misfit(String)
        case unavailable(String)
    }

    private let exercise: Exercise
    private let library: URL
    private let record: FileHandle
    private let tokens: [String]

    /// - Parameter record: the file to which the lines are written.
    public init?(_ exercise: Exercise, library: URL, record: URL) {
        _ = FileManager.default.createFile(atPath: record.path, contents: nil)
        guard let handle = try? FileHandle(forWritingTo: record) else { return nil }
        self.exercise = exercise
        self.library = library
        self.record = handle
        tokens = Tokens.received()
    }

    /// Tries the requirements one after the other, up to the first that is not met.
    ///
    /// - Parameters:
    ///   - only: the id of the one requirement to try.
    ///   - isolated: whether a crash in a scenario is to be contained and told like other failures.
    public func run(_ limits: Limits, only: String? = nil, isolated: Bool = false) {
        impose(limits)
        guard let answer = load() else { return }
        for (index, requirement) in exercise.requirements.enumerated()
        where only == nil || only == requirement.id {
            write(.begins(requirement.id))
            Patience.renew()
            let verdict = requirement.run(on: answer, isolated: isolated)
            var token: String?
            if case .fails = verdict {} else if index < tokens.count { token = tokens[index] }
            write(.ends(requirement.id, verdict, token: token))
            if case .fails = verdict { return }
        }
    }

    /// Runs one interleaving and writes its table, and then, if it fails, the table with a mark at the
    /// step from which every interleaving fails.
    public func replay(_ id: String, _ schedule: String, _ limits: Limits) {
        impose(limits)
        guard let answer = load(), let requirement = exercise.requirement(id) else { return }
        do {
            let written = { (marked: Bool) in
                let (trace, verdict) = try requirement.replayed(answer, schedule, marked: marked)
                return Line.replayed(
                    ([trace.table(width: TableWidth.now), ""] + verdict).joined(separator: "\n"))
            }
            write(try written(false))
            if let marked = try? written(true) { write(marked) }
        } catch {
            write(.misfit("\(error)"))
        }
    }

    /// Writes what becomes of the scenario in which a requirement is tried.
    public func describe(
        _ id: String, _ limits: Limits,
        _ text: (Requirement, Options, @escaping (Scenario) -> Void) throws -> String
    ) {
        impose(limits)
        guard let answer = load(), let requirement = exercise.requirement(id) else { return }
        guard case .scenario(let options, let scenario) = requirement.body(answer) else { return }
        do {
            write(
                .replayed(
                    try text(requirement, options) {
                        Patience.renew()
                        scenario($0)
                    }))
        } catch {
            write(.misfit("\(error)"))
        }
    }

    private func write(_ line: Line) {
        guard var data = try? JSONEncoder().encode(line) else { return }
        data.append(UInt8(ascii: "\n"))
        try? record.write(contentsOf: data)
    }

    // MARK: The answer

    /// The object that the adapter makes.
    private func load() -> AnyObject? {
        if let unavailable {
            write(.unavailable(unavailable))
            return nil
        }
        guard let handle = dlopen(library.path, RTLD_NOW | RTLD_LOCAL) else {
            write(
                .unavailable(
                    "the answer cannot be loaded: \(dlerror().map { String(cString: $0) } ?? "")"))
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

    // MARK: Limits

    /// On this very process, before it has anything to do with the answer.
    private func impose(_ limits: Limits) {
        // Whoever has started this process may have kept signals out, and passed that on.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        signal(SIGXCPU, SIG_DFL)
        signal(SIGXFSZ, SIG_DFL)
        Patience.begin(limits.seconds) { [record] in try? record.write(contentsOf: Data("\n".utf8))
        }
        allow(limits.output, of: RLIMIT_FSIZE)
        allow(0, of: RLIMIT_CORE)
        #if os(Linux)
            // Most of a program's addresses stand for no memory at all; what counts is what it adds.
            let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
            let pages = text.split(separator: " ").first.flatMap { Int($0) } ?? 0
            allow(pages * Int(getpagesize()) + limits.memory, of: RLIMIT_AS)
        #endif
    }

    #if os(Linux)
        private typealias Resource = __rlimit_resource
    #else
        private typealias Resource = Int32
    #endif

    private func allow(_ amount: Int, of resource: Resource) {
        var limit = rlimit(rlim_cur: rlim_t(amount), rlim_max: rlim_t(amount))
        #if os(Linux)
            setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        #else
            setrlimit(resource, &limit)
        #endif
    }
}

/// How long an answer may go on without an interleaving, or a requirement, coming to its end. It is
/// counted anew from each of them on, so that what a verdict depends on is how many there are, and not
/// how fast the machine is.
enum Patience {
    private struct State {
        var seconds: Int?
        var giveSignOfLife: () -> Void = {}
        var lastSign = ContinuousClock.now
    }

    nonisolated(unsafe) private static var state = State()

    /// In the process that tries an answer, before it has anything to do with it.
    static func begin(_ seconds: Int, _ giveSignOfLife: @escaping () -> Void) {
        state = State(seconds: seconds, giveSignOfLife: giveSignOfLife)
        renew()
    }

    /// At the beginning of each interleaving.
    static func renew() {
        guard let seconds = state.seconds else { return }
        var used = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)
        limit(to: used.tv_sec + 1 + seconds)
        guard state.lastSign.duration(to: .now) > .seconds(1) else { return }
        state.lastSign = .now
        state.giveSignOfLife()
    }

    private static func limit(to seconds: Int) {
        #if os(Linux)
            let resource = __rlimit_resource_t(RLIMIT_CPU.rawValue)
        #else
            let resource = RLIMIT_CPU
        #endif
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = min(rlim_t(seconds), limit.rlim_max)
        setrlimit(resource, &limit)
    }
}

/// Whoever tries an answer is one process with it, so the answer could write whatever this process can,
/// and end it. What it cannot write is a word that it does not know: the grader sends one for each
/// requirement, which is read before the answer is loaded, and comes back when that one is met.
enum Tokens {
    static func made(for exercise: Exercise) -> [String] {
        exercise.requirements.map { _ in
            (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        }
    }

    static func text(_ tokens: [String]) -> String { tokens.joined(separator: " ") + "\n" }

    /// From standard input. It stays open as long as the grader lives; when that is gone, nobody is
    /// left to end this process and what it has started.
    fileprivate static func received() -> [String] {
        var (line, byte): ([UInt8], UInt8) = ([], 0)
        while read(0, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        let tokens = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
        guard !tokens.isEmpty, getpgrp() == getpid() else { return tokens }
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while read(0, &byte, 1) > 0 {}
            kill(0, SIGKILL)
        }
        return tokens
    }
}
