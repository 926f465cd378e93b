import Foundation

/// Makes a library of an answer, to be loaded by the process that tries it.
struct Workshop {
    let exercise: Exercise
    /// The one of which the answer is, if there are several.
    let variant: Int?
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
        if let suspect = exercise.suspect(of: variant) {
            let file = folder.appending(path: "AsItCame.swift")
            try? suspect.write(to: file, atomically: true, encoding: .utf8)
            sources.append(file.path)
        }
        let object = folder.appending(path: "\(exercise.name).o")
        let library = folder.appending(path: "\(exercise.name).library")
        // So that clocks and `.rejected` are known to an answer that imports Stage 3 only.
        let operators = ["-Xfrontend", "-import-module", "-Xfrontend", "PromiseOperators"]
        let compiling = compiler(
            [
                "-c", "-wmo", "-Onone", "-g", "-sanitize=thread", "-parse-as-library",
                "-swift-version", "5", "-suppress-warnings", "-module-name", exercise.name,
                "-I", products.appending(path: "Modules").path,
                "-Xcc", "-fmodule-map-file=\(products.path)/CRaceLab.build/module.modulemap",
                "-o", object.path,
            ] + (exercise.usesStage3 ? operators : []) + sources)
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
        case .signal(SIGINT): return .unavailable("the compiler was interrupted")
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
        if !inAnswer.isEmpty {
            return inAnswer.prefix(5).map {
                $0.replacingOccurrences(of: answer.path, with: answer.lastPathComponent)
            }.joined(separator: "\n")
        }
        let missing = exercise.adapterFiles.flatMap { misfits(in: lines, with: $0) }
        return missing.isEmpty ? said : missing.prefix(3).joined(separator: "\n")
    }

    /// What an adapter does not find is what the task has asked for, and the answer lacks: the line
    /// that wants it, and the compiler's words. Each of them once.
    private func misfits(in errors: [Substring], with adapter: URL) -> [String] {
        let source = ((try? String(contentsOf: adapter, encoding: .utf8)) ?? "")
            .split(separator: "\n", omittingEmptySubsequences: false)
        var known: Set<String> = []
        return errors.filter { $0.hasPrefix(adapter.path) }.compactMap { error in
            let place = error.dropFirst(adapter.path.count + 1).prefix { $0.isNumber }
            let words = error.components(separatedBy: "error: ").dropFirst().joined()
            guard known.insert(words).inserted, let line = Int(place), line <= source.count
            else { return nil }
            return "what is asked for: \(source[line - 1].drop { $0 == " " }) -- \(words)"
        }
    }

    /// Where `swift build` has put this program and the modules.
    private static let products: URL? = {
        guard let program = Bundle.main.executableURL?.resolvingSymlinksInPath() else { return nil }
        let folder = program.deletingLastPathComponent()
        let modules = folder.appending(path: "Modules").path
        return FileManager.default.fileExists(atPath: modules) ? folder : nil
    }()
}
