import Foundation
import RaceLab

extension Command {
    private static let format = Argument(
        name: "--format", value: "FORMAT", choices: ["text", "json"])

    static let doctor = Command(
        name: "doctor", summary: "what the lab observes on this machine", arguments: [format],
        help: """
            Prints the versions of the compiler, the standard library, the processor and the kernel.
            For each family of functions it tries whether the lab observes it: it explores a tiny
            program whose results are known. Code that uses a family which is not observed gets no
            verdict. A report of a bug in the lab begins with this output.

            The exit status is 0 if all families are observed, 1 if one is not, and 2 if the lab is
            not available.
            """
    ) { arguments in
        // Exploring is not available: the command does not apply.
        if let unavailable = Exploration.unavailable { throw Mistake(unavailable) }
        let report = DoctorCommand.Report()
        if arguments[format] == "json" {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(report), as: UTF8.self))
        } else {
            for (title, version) in [
                ("compiler", report.compiler), ("standard library", report.standardLibrary),
                ("processor", report.processor), ("kernel", report.kernel),
            ] {
                print(Terminal.hanging(title.padded(to: 18), version))
            }
            print("")
            for line in DoctorCommand.table(of: report.families) { print(line) }
        }
        exit(DoctorCommand.status(of: report.families))
    }
}

/// What the lab observes with the installed toolchain.
enum DoctorCommand {
    fileprivate struct Report: Encodable {
        let kind = "doctor"
        let version = 2
        let compiler = DoctorCommand.compiler
        let standardLibrary = "\(_SwiftStdlibVersion.current)"
        let processor = DoctorCommand.processor
        let kernel = "\(text(name.sysname)) \(text(name.release))"
        let families = Exploration.families()
    }

    static func status(of families: [Exploration.Family]) -> Int32 {
        families.allSatisfy(\.isObserved) ? 0 : 1
    }

    static func table(of families: [Exploration.Family]) -> [String] {
        let rows = families.map { family in
            let mark = family.isObserved ? "✓" : "✗"
            let reason = family.reason.map { ": \($0)" } ?? ""
            return Terminal.wrapped("\(mark) \(family.name)\(reason)", margin: 2)
        }
        let missing = families.count { !$0.isObserved }
        let start = "The lab does not observe \(missing) of \(families.count) families"
        let sum =
            missing == 0
            ? "The lab observes all \(families.count) families."
            : families.allSatisfy(\.usesAreNoticed)
                ? "\(start). Code that uses one of them gets no verdict."
                : "\(start), and does not notice who uses them. No code gets a verdict."
        return rows + ["", Terminal.wrapped(sum)]
    }

    // MARK: Versions

    /// The compiler of this program, which names itself in the debugging data.
    static var compiler: String {
        let beginning = Data("Swift version ".utf8)
        guard let program = Bundle.main.executableURL,
            let data = try? Data(contentsOf: program, options: .alwaysMapped)
        else { return "unknown" }
        var start = data.startIndex
        while let found = data.range(of: beginning, in: start..<data.endIndex) {
            start = found.upperBound
            let rest = data[start...].prefix(100).prefix { $0 > 0x20 && $0 < 0x7F }
            if let first = rest.first, first < UInt8(ascii: "A") {
                return "Swift \(String(decoding: rest, as: UTF8.self))"
            }
        }
        return "unknown"
    }

    private static var processor: String {
        let model = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
            .split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last
        return text(name.machine) + (model.map { ",\($0)" } ?? "")
    }

    private static var name: utsname {
        var name = utsname()
        uname(&name)
        return name
    }

    private static func text(_ field: some Any) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
