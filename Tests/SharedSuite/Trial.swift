import Foundation
import RaceLab

/// A hazard that can end the process is tried out in a process of its own.
public enum Trial {
    /// How to start another process that calls ``runInThisProcess(_:on:)``: what it wrote to
    /// standard error, or `nil` if it could not be started. Set by whoever knows how, before a
    /// hazard is run.
    nonisolated(unsafe) public static var startProcess: ((_ id: String, _ stage: Stage) -> String?)?

    private static let marker = "verdict of the trial: "

    /// Starts another process and reads its verdict.
    static func run(_ hazard: H12, on stage: Stage) -> Verdict {
        guard let startProcess else {
            return .unknown("\(hazard.id) needs another process, and nobody said how to start one")
        }
        guard let said = startProcess(hazard.id, stage) else {
            return .unknown("the process for \(hazard.id) on \(stage) could not be started")
        }
        return verdict(from: said)
    }

    /// What a process that called ``runInThisProcess(_:on:)`` has found out.
    public static func verdict(from standardError: String) -> Verdict {
        guard let range = standardError.range(of: marker) else {
            return .unknown("the process came to an end without a verdict: \(standardError)")
        }
        let line = standardError[range.upperBound...].prefix { $0 != "\n" }
        let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
        let detail = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        if parts.first == "survives" { return .survives(explored: nil, detail: detail) }
        guard let word = parts.first, let reason = Reason(rawValue: word) else {
            return .unknown("the process for this trial said: \(line)")
        }
        return .fails([reason], failing: nil, explored: nil, detail: detail)
    }

    /// Tries it here, on a thread with a stack of 8 MB, says on standard error what came of it and
    /// ends the process.
    public static func runInThisProcess(_ id: String, on stage: Stage) -> Never {
        let thread = Thread {
            reportStackOverflow(
                "\(marker)\(Reason.stackOverflow.rawValue): \(Reason.stackOverflow.sentence)\n")
            let verdict = SharedSuite.verdict { try H12().play(on: stage) }
            switch verdict {
            case .survives(_, let detail): write("survives: \(detail)")
            case .fails(let reasons, _, _, let detail): write("\(reasons[0].rawValue): \(detail)")
            case .cannotExpress(let why), .unknown(let why): write("unknown: \(why)")
            }
            exit(0)
        }
        thread.stackSize = 8 << 20
        thread.start()
        while true { pause() }
    }

    private static func write(_ verdict: String) {
        FileHandle.standardError.write(Data("\(marker)\(verdict)\n".utf8))
    }
}
