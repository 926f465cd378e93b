import Foundation
import RaceLab

/// The process in which an answer is tried. It writes down what it is about to do before it does it,
/// so that whoever has started it knows where an answer came to grief that ended the process.
public struct GraderProcess {
    /// One line of what it writes.
    enum Line: Codable {
        case begins(String)
        case ends(String, Requirement.Verdict)
        case replayed(String)
        case misfit(String)
        case unavailable(String)
    }

    private let exercise: Exercise
    private let library: URL
    private let record: FileHandle

    /// - Parameter record: the file to which the lines are written.
    public init?(_ exercise: Exercise, library: URL, record: URL) {
        _ = FileManager.default.createFile(atPath: record.path, contents: nil)
        guard let handle = try? FileHandle(forWritingTo: record) else { return nil }
        self.exercise = exercise
        self.library = library
        self.record = handle
    }

    /// Tries the requirements one after the other, up to the first that is not met.
    ///
    /// - Parameters:
    ///   - only: the id of the one requirement to try.
    ///   - isolated: whether a crash in a scenario is to be contained and told like other failures.
    public func run(_ limits: Limits, only: String? = nil, isolated: Bool = false) {
        impose(limits)
        guard let answer = load() else { return }
        for requirement in exercise.requirements where only == nil || only == requirement.id {
            write(.begins(requirement.id))
            let verdict = requirement.run(on: answer, isolated: isolated)
            write(.ends(requirement.id, verdict))
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
                    ([trace.table(width: 100), ""] + verdict).joined(separator: "\n"))
            }
            write(try written(false))
            if let marked = try? written(true) { write(marked) }
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
        allow(limits.seconds, of: RLIMIT_CPU)
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
