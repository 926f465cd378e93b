import Foundation
import SharedSuite

extension Command {
    static let mutants = Command(
        name: "mutants", summary: "plants faults that the rows must notice",
        help: """
            Copies the package to a temporary folder and plants one fault after the other there (the
            lock removed, handlers called under it, …). For each, it builds the copy, runs the rows
            that must notice the fault, and checks that they fail for the right reason. Takes two or
            three minutes. The exit status is 0 if every fault was noticed, 1 if one was not.
            """
    ) { _ in
        let copy = FileManager.default.temporaryDirectory
            .appending(path: "promise-lab-mutants-\(getpid())")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: copy) }
        for name in ["Course", "Lab", "Package.swift", "Sources", "Tests"] {
            try FileManager.default.copyItem(
                at: Commands.package.appending(path: name), to: copy.appending(path: name))
        }
        print("Each fault is planted in a copy of the package; the checks must notice it.\n")
        var unnoticed = 0
        for fault in PlantedFault.all where !(try fault.isNoticed(in: copy)) { unnoticed += 1 }
        guard unnoticed == 0 else { throw Unfinished("\(unnoticed) faults went unnoticed") }
        print("\nEvery fault was noticed, by the rows and for the reasons named.")
    }
}

extension PlantedFault {
    /// Plants it in a copy of the sources and checks that the matrix, or the cases of Promises/A+,
    /// notice it: a test of the tests.
    fileprivate func isNoticed(in copy: URL) throws -> Bool {
        let file = copy.appending(path: self.file)
        let original = try String(contentsOf: file, encoding: .utf8)
        defer { try? original.write(to: file, atomically: true, encoding: .utf8) }
        var source = original
        for (text, replacement) in edits {
            guard source.contains(text) else {
                throw Unfinished(
                    "\(name): \(self.file) has no '\(text)' any more; "
                        + "adapt the fault in Tests/SharedSuite/PlantedFaults.swift")
            }
            source = source.replacing(text, with: replacement)
        }
        try source.write(to: file, atomically: true, encoding: .utf8)
        let build = try Commands.run(
            URL(filePath: "/usr/bin/env"),
            ["swift", "build", "--package-path", copy.path, "--product", "promise-lab"])
        guard build.status == 0 else {
            throw Unfinished("\(name): it does not compile\n\(build.output)\(build.errors)")
        }
        let program = copy.appending(path: ".build/debug/promise-lab")
        let runs = try commands.map { try Commands.run(program, $0) }
        // The errors that a command reports, one line each.
        let complaints = runs.flatMap { run in
            run.errors.components(separatedBy: "promise-lab: ").dropFirst()
                .map { $0.replacing("\n", with: " ") }
        }
        let missing = noticedBy.filter { row, reason in
            !complaints.contains { $0.hasPrefix(row) && $0.contains(reason) }
        }
        if missing.isEmpty, runs.contains(where: { $0.status == 1 }) {
            print(Terminal.wrapped([Span("✓ ", .success), Span(name)]))
            let rows = noticedBy.map { "\($0.row): \($0.reason)" }
            print(Terminal.wrapped(rows.joined(separator: "; "), margin: 4))
            return true
        }
        let asleep = missing.map { "\($0.row) (\($0.reason))" }.joined(separator: ", ")
        let sentence = "\(name): not noticed by \(asleep)"
        print(Terminal.wrapped([Span("✗ ", .failure), Span(sentence)]))
        for run in runs { print(run.output + run.errors) }
        return false
    }

    /// The commands for the rows that must notice and, if there are clauses among them, for all
    /// clauses.
    private var commands: [[String]] {
        let ids = noticedBy.map { $0.row.prefix { $0 != " " } }.map(String.init)
        let hazards = ids.filter { Catalogue.hazard($0) != nil }
        let columns = file.contains("/Steps/") ? ["--steps"] : []
        let matrix = ["matrix", "--only", hazards.joined(separator: ",")] + columns
        return hazards.count < ids.count ? [matrix, ["aplus"]] : [matrix]
    }
}
