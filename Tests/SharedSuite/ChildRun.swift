import Foundation
import RaceLab
import Synchronization

/// Runs, in a child process, a hazard that can crash.
public enum ChildRun {
    /// The program `promise-lab`, which runs a part in a process of its own. Set it before such a
    /// hazard runs.
    public static var program: URL? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }

    private static let stored = Mutex<URL?>(nil)

    private static let marker = "verdict of this part: "

    /// Starts a process for each part, all of them concurrently.
    package static func run(
        _ parts: [LongChain], on subject: Subject, links: Int = LongChain.links
    ) -> Verdict {
        guard let program else {
            return .unknown("it needs another process, and `ChildRun.program` is not set")
        }
        let started = parts.map { part -> (Process, Pipe)? in
            let process = Process()
            process.executableURL = program
            process.arguments =
                ["run-part", part.rawValue]
                + subject.option.split(separator: " ").map(String.init)
            // A stack overflow is an expected result, and needs no crash report.
            process.environment = ProcessInfo.processInfo.environment
                .merging([
                    "SWIFT_BACKTRACE": "enable=no", LongChain.variableForLinks: "\(links)",
                ]) { $1 }
            let pipe = Pipe()
            process.standardError = pipe
            process.standardOutput = FileHandle.nullDevice
            process.standardInput = FileHandle.nullDevice
            return (try? process.run()) == nil ? nil : (process, pipe)
        }
        let said = zip(parts, started).map { part, started in
            guard let (process, pipe) = started else {
                return (part: part, said: "could not start \(program.path)")
            }
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (part: part, said: String(decoding: data, as: UTF8.self))
        }
        return verdict(of: said)
    }

    /// The combined verdict of the parts, from the standard error of each process.
    private static func verdict(of parts: [(part: LongChain, said: String)]) -> Verdict {
        var failed: [String] = []
        var reasons: [Reason] = []
        var details: [Detail] = []
        for part in parts {
            switch verdict(from: part.said) {
            case .survives, .cannotExpress: break
            case .unknown(let why): return .unknown("\(part.part.rawValue): \(why)")
            case .fails(let found, _, _, let detail):
                failed.append(part.part.rawValue)
                reasons += found.filter { !reasons.contains($0) }
                if !details.contains(detail) { details.append(detail) }
            }
        }
        guard failed.isEmpty else {
            let what = details.map(\.description).joined(separator: "; ")
            let cases = failed.joined(separator: ", and when it was ")
            return .fails(
                reasons, failing: nil, explored: nil,
                detail: "\(what) when the chain was \(cases)")
        }
        let names = parts.map(\.part.rawValue).joined(separator: " and ")
        return .survives(explored: nil, detail: "\(names), with all its links")
    }

    /// The verdict of a process that called ``runInThisProcess(_:on:)``.
    private static func verdict(from standardError: String) -> Verdict {
        guard let range = standardError.range(of: marker) else {
            return .unknown("the process came to an end without a verdict: \(standardError)")
        }
        let line = standardError[range.upperBound...].prefix { $0 != "\n" }
        let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
        let detail = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        if parts.first == "survives" { return .survives(explored: nil, detail: "\(detail)") }
        guard let word = parts.first, let reason = Reason(rawValue: word) else {
            return .unknown("the process for this part said: \(line)")
        }
        return .fails([reason], failing: nil, explored: nil, detail: "\(detail)")
    }

    /// Runs a part of H12 or H19 here, on a thread with a stack of 8 MB, writes the verdict to
    /// standard error and ends the process. `nil` if there is no such part.
    public static func runInThisProcess(_ name: String, on subject: Subject) -> Never? {
        guard let part = LongChain(rawValue: name) else { return nil }
        let thread = Thread {
            reportStackOverflow(
                "\(marker)\(Reason.stackOverflow.rawValue): the process crashed\n")
            switch SharedSuite.verdict({ try part.run(on: subject, links: LongChain.links) }) {
            case .survives(_, let detail): write("survives: \(detail)")
            case .fails(let reasons, _, _, let detail): write("\(reasons[0].rawValue): \(detail)")
            case .cannotExpress(let why), .unknown(let why): write("unknown: \(why)")
            }
            exit(0)
        }
        thread.stackSize = runsUnderThreadSanitizer ? 1 << 20 : 8 << 20
        thread.start()
        while true { pause() }
    }

    /// ThreadSanitizer has its own call stack, and corrupts memory when it overflows. A smaller
    /// thread stack overflows before that.
    private static var runsUnderThreadSanitizer: Bool {
        Exploration.unavailable?.contains("ThreadSanitizer") == true
    }

    private static func write(_ verdict: String) {
        FileHandle.standardError.write(Data("\(marker)\(verdict)\n".utf8))
    }
}
