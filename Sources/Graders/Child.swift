import Foundation

/// A process that is given a certain time, and whose output goes to a file.
enum Child {
    enum Ending: Equatable {
        case status(Int32)
        case signal(Int32)
        case tookTooLong
        case didNotStart(String)
    }

    /// A dictionary is to be gone through in the same order each time that a scenario is run: who
    /// keeps his handlers in one is no less deterministic for that.
    private static let settings = [
        "SWIFT_BACKTRACE": "enable=no", "SWIFT_DETERMINISTIC_HASHING": "1",
    ]

    static func run(
        _ program: URL, _ arguments: [String], output: URL, atMost limit: Duration
    ) -> Ending {
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        guard let file = try? FileHandle(forWritingTo: output) else {
            return .didNotStart("\(output.path) cannot be written")
        }
        defer { try? file.close() }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        // What it leaves behind on the way is gone with the folder of its output.
        let folder = ["TMPDIR": output.deletingLastPathComponent().path]
        process.environment = ProcessInfo.processInfo.environment
            .merging(Child.settings) { $1 }.merging(folder) { $1 }
        process.standardOutput = file
        process.standardError = file
        process.standardInput = FileHandle.nullDevice
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        do {
            try process.run()
        } catch {
            return .didNotStart("\(error)")
        }
        let seconds = Double(limit.components.seconds)
        if ended.wait(timeout: .now() + seconds) == .timedOut {
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
            return .tookTooLong
        }
        return process.terminationReason == .exit
            ? .status(process.terminationStatus) : .signal(process.terminationStatus)
    }

    /// The first lines of what it has written.
    static func beginning(of output: URL, lines: Int) -> String {
        guard let file = try? FileHandle(forReadingFrom: output) else { return "" }
        defer { try? file.close() }
        let data = (try? file.read(upToCount: 1 << 16)) ?? Data()
        return String(decoding: data, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
            // What the runtime says after a crash is about this program more than about the answer.
            .prefix { !$0.hasPrefix("Current stack trace:") }
            .prefix(lines).joined(separator: "\n")
    }
}
