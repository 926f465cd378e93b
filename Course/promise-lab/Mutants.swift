import Foundation
import SharedSuite

extension Command {
    static let mutants = Command(
        name: "mutants", summary: "plants faults that the rows must notice",
        help: """
            Copies the package to a temporary folder and plants faults there (the lock removed,
            handlers called under it, …), at most one for each column of the matrix at a time. It
            builds the copy, runs the rows that must notice each fault, and checks that they fail
            for the right reason. Takes two or three minutes. The exit status is 0 if every fault
            was noticed, 1 if one was not.
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
        let unnoticed = try PlantedFault.batches.reduce(0) {
            try $0 + PlantedFault.unnoticed(of: $1, in: copy)
        }
        guard unnoticed == 0 else { throw Unfinished("\(unnoticed) faults went unnoticed") }
        print("\nEvery fault was noticed, by the rows and for the reasons named.")
    }
}

extension PlantedFault {
    /// Plants faults in a copy of the sources and checks that the matrix, or the cases of
    /// Promises/A+, notice them: a test of the tests. Returns how many they do not notice.
    fileprivate static func unnoticed(of faults: [PlantedFault], in copy: URL) throws -> Int {
        for fault in faults { try fault.write(to: copy, planted: true) }
        defer { for fault in faults { try? fault.write(to: copy, planted: false) } }
        let build = try Commands.run(
            URL(filePath: "/usr/bin/env"),
            ["swift", "build", "--package-path", copy.path, "--product", "promise-lab"])
        guard build.status == 0 else {
            let names = faults.map(\.name).joined(separator: "; ")
            throw Unfinished("\(names): it does not compile\n\(build.output)\(build.errors)")
        }
        let program = copy.appending(path: ".build/debug/promise-lab")
        return try faults.count { try !$0.isNoticed(by: program) }
    }

    /// Writes its file to a copy of the package, with the fault or without it.
    private func write(to copy: URL, planted: Bool) throws {
        let original = try String(
            contentsOf: Commands.package.appending(path: file), encoding: .utf8)
        let text = try planted ? self.planted(in: original) : original
        try text.write(to: copy.appending(path: file), atomically: true, encoding: .utf8)
    }

    private func isNoticed(by program: URL) throws -> Bool {
        let runs = try commands.map { try Commands.run(program, $0) }
        let missing = missing(from: runs.map(\.errors))
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
}
