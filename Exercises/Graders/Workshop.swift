import Foundation

/// Makes a library of an answer, to be loaded by the process that tries it.
struct Workshop {
    let exercise: Exercise
    /// For what is made on the way.
    let folder: URL

    enum Outcome {
        case library(URL)
        case doesNotCompile(String)
        case unavailable(String)
    }

    func build(_ answer: URL) -> Outcome {
        guard let products = Workshop.products else {
            return .unavailable(
                "the folder Modules is not beside the program, where `swift build` puts it")
        }
        var sources = [answer.path] + exercise.adapterFiles.map(\.path)
        if let suspect = exercise.suspect(
            of: (try? String(contentsOf: answer, encoding: .utf8)) ?? "")
        {
            let file = folder.appending(path: "AsItCame.swift")
            try? suspect.write(to: file, atomically: true, encoding: .utf8)
            sources.append(file.path)
        }
        let object = folder.appending(path: "\(exercise.name).o")
        let library = folder.appending(path: "\(exercise.name).library")
        let compiling = compiler(
            [
                "-c", "-wmo", "-Onone", "-g", "-sanitize=thread", "-parse-as-library",
                "-swift-version", "5", "-suppress-warnings", "-module-name", exercise.name,
                "-I", products.appending(path: "Modules").path,
                "-Xcc", "-fmodule-map-file=\(products.path)/CRaceLab.build/module.modulemap",
                "-o", object.path,
            ] + sources)
        if let failure = failure(of: compiling, of: answer) { return failure }
        var linking = ["-emit-library", "-o", library.path, object.path]
        #if os(macOS)
            linking += ["-Xlinker", "-undefined", "-Xlinker", "dynamic_lookup"]
        #endif
        return failure(of: compiler(linking), of: answer) ?? .library(library)
    }

    private func compiler(_ arguments: [String]) -> Child.Ending {
        Child.run(
            URL(filePath: "/usr/bin/env"), ["swiftc"] + arguments,
            output: folder.appending(path: "compiler"), atMost: .seconds(60))
    }

    private func failure(of ending: Child.Ending, of answer: URL) -> Outcome? {
        let said = Child.beginning(of: folder.appending(path: "compiler"), lines: 400)
        switch ending {
        case .status(0): return nil
        case .status, .signal: return .doesNotCompile(errors(in: said, of: answer))
        case .tookTooLong:
            return .doesNotCompile("the compiler did not come to an end within a minute")
        case .didNotStart(let why): return .unavailable("swiftc could not be started: \(why)")
        }
    }

    /// What is wrong with the answer, without the compiler's drawings, and with short names of files.
    private func errors(in said: String, of answer: URL) -> String {
        let lines = said.split(separator: "\n").filter { $0.contains("error:") }
        let inAnswer = lines.filter { $0.hasPrefix(answer.path) }
        let chosen = inAnswer.isEmpty ? lines : inAnswer
        guard !chosen.isEmpty else { return said }
        // What the adapter does not find is what the task has asked for, and the answer lacks.
        return chosen.prefix(5).map { line in
            exercise.adapterFiles.reduce(
                line.replacingOccurrences(of: answer.path, with: answer.lastPathComponent)
            ) { $0.replacingOccurrences(of: $1.path, with: "what is asked for") }
        }.joined(separator: "\n")
    }

    /// Where `swift build` has put this program and the modules.
    private static let products: URL? = {
        guard let program = Bundle.main.executableURL?.resolvingSymlinksInPath() else { return nil }
        let folder = program.deletingLastPathComponent()
        let modules = folder.appending(path: "Modules").path
        return FileManager.default.fileExists(atPath: modules) ? folder : nil
    }()
}
