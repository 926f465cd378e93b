import Foundation
import RaceLab

extension Command {
    private static let format = Argument.format(["text", "json"])

    static let doctor = Command(
        "doctor", "what the lab observes on this machine", [format],
        help: """
            Prints the versions of the compiler, the standard library, the processor and the kernel.
            For each family of functions it tries whether the lab observes it: it explores a tiny
            program whose results are known. Code that uses a family which is not observed gets no
            verdict. A report of a bug in the lab begins with this output.

            The exit status is 0 if all families are observed, 1 if one is not, and 2 if the lab is
            not available.
            """
    ) { arguments in
        exit(try DoctorCommand.run(asJSON: arguments[format] == "json"))
    }
}

/// What the lab observes with the installed toolchain.
enum DoctorCommand {
    private struct Report: Encodable {
        let kind = "doctor"
        let version = 2
        let compiler: String
        let standardLibrary: String
        let processor: String
        let kernel: String
        let families: [Exploration.Family]
    }

    /// Returns the exit status: 1 if the lab does not observe a family.
    static func run(asJSON: Bool) throws -> Int32 {
        // Exploring is not available: the command does not apply.
        if let unavailable = Exploration.unavailable { throw Mistake(unavailable) }
        let report = Report(
            compiler: compiler, standardLibrary: "\(_SwiftStdlibVersion.current)",
            processor: processor, kernel: kernel, families: Exploration.families())
        print(asJSON ? try json(report) : text(report), terminator: "")
        return status(of: report.families)
    }

    static func status(of families: [Exploration.Family]) -> Int32 {
        families.allSatisfy(\.isObserved) ? 0 : 1
    }

    private static func json(_ report: Report) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    }

    private static func text(_ report: Report) -> String {
        var lines = [
            Terminal.hanging("compiler          ", report.compiler),
            Terminal.hanging("standard library  ", report.standardLibrary),
            Terminal.hanging("processor         ", report.processor),
            Terminal.hanging("kernel            ", report.kernel),
            "",
        ]
        lines += table(of: report.families)
        return lines.joined(separator: "\n") + "\n"
    }

    static func table(of families: [Exploration.Family]) -> [String] {
        let rows = families.map { family in
            let mark = family.isObserved ? "✓" : "✗"
            let reason = family.reason.map { ": \($0)" } ?? ""
            return Terminal.wrapped("\(mark) \(family.name)\(reason)", margin: 2)
        }
        let missing = families.count { !$0.isObserved }
        let sum =
            if missing == 0 {
                "The lab observes all \(families.count) families."
            } else if families.allSatisfy(\.usesAreNoticed) {
                "The lab does not observe \(missing) of \(families.count) families. Code that uses "
                    + "one of them gets no verdict."
            } else {
                "The lab does not observe \(missing) of \(families.count) families, and does not "
                    + "notice who uses them. No code gets a verdict."
            }
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
        return "\(name.machine)" + (model.map { ",\($0)" } ?? "")
    }

    private static var kernel: String { "\(name.system) \(name.release)" }

    private static var name: (machine: String, system: String, release: String) {
        var name = utsname()
        uname(&name)
        func text(_ field: some Any) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return (text(name.machine), text(name.sysname), text(name.release))
    }
}
