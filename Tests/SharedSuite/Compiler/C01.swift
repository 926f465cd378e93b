import Foundation

/// A hazard that the compiler alone decides.
struct C01: AsyncHazard {
    let id = "C01"
    let name = "sharing in Swift 6 mode"
    let story =
        "Two threads use one promise. The Swift 6 language mode accepts that only if the "
        + "compiler can verify that the class is safe to share."

    private static func source(_ subject: Subject) -> String {
        let (type, asynchronous, awaiting) =
            switch subject.promise {
            case .calls(let type): ("\(type)", "", "")
            case .awaits(let type): ("\(type)", "async", "await")
            }
        return """
            import \(subject.module)

            func onAnotherThread(_ work: @escaping @Sendable () \(asynchronous) -> Void) {}

            func share(_ promise: \(type)) \(asynchronous) {
                onAnotherThread { _ = \(awaiting) promise.result }
                _ = \(awaiting) promise.result
            }

            """
    }

    func runExpressible(on subject: Subject) -> Verdict {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "C01-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            try C01.source(subject).write(
                to: file, atomically: true, encoding: .utf8)
            return try verdict(file)
        } catch {
            return .unknown("the compiler could not be started: \(error)")
        }
    }

    private func verdict(_ file: URL) throws -> Verdict {
        guard let modules = C01.modules else {
            return .unknown(
                "the folder Modules, which `swift build` creates, is not next to the program")
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", "-I", modules.path, file.path,
        ]
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = pipe
        try process.run()
        let said = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let errors = said.split(separator: "\n").filter { $0.hasPrefix(file.path) }
            .compactMap { line in
                line.firstRange(of: "error: ").map { line[$0.upperBound...] }
            }
        guard let error = errors.first else {
            return process.terminationStatus == 0
                ? .survives(explored: nil, detail: "the compiler accepts it")
                : .unknown("the compiler failed: \(said)")
        }
        let isRefusal = error.contains("Sendable")
        return isRefusal
            ? .fails([.refused], failing: nil, explored: nil, detail: "the compiler says: \(error)")
            : .unknown("the compiler reports another error: \(error)")
    }

    /// The folder of the modules of the stages.
    private static let modules: URL? = {
        guard let program = Bundle.main.executableURL else { return nil }
        let folder = program.deletingLastPathComponent().appending(path: "Modules")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()
}
