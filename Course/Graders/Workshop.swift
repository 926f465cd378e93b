import Foundation
import Synchronization

@_silgen_name("swift_demangle")
private func demangled(
    _ name: UnsafePointer<CChar>, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?

/// Compiles an answer to a library, which the process that runs it loads.
struct Workshop {
    let exercise: Exercise
    /// The variant that the answer names, if the exercise has several.
    let variant: Int?
    /// For intermediate files and the library.
    let folder: URL
    /// Whether to compile with optimization: see ``Requirement/isAlsoRunOptimized``.
    var isOptimized = false

    func build(_ answer: URL) throws(Grade.Result) -> URL {
        guard let products = Workshop.products else {
            throw .unavailable(
                "there is no folder Modules next to the program, where `swift build` puts it")
        }
        if exercise.reports {
            try? exercise.suspect(of: variant)
                .write(to: suspectFile, atomically: true, encoding: .utf8)
        }
        let arguments = arguments(for: answer, products)
        if !buildsWithScript(answer, arguments) {
            // The driver's messages say what is wrong with the answer.
            if let failure = failure(of: driver(arguments), of: answer) { throw failure }
        }
        return library
    }

    private var library: URL { folder.appending(path: "\(exercise.name).library") }
    private var suspectFile: URL { folder.appending(path: "AsItCame.swift") }

    /// The arguments for the compiler driver.
    private func arguments(for answer: URL, _ products: URL) -> [String] {
        // `-g` and `-sanitize` go to the frontend only. Otherwise the driver would merge modules
        // for a debugger, and link the runtime of ThreadSanitizer.
        let compiling = [
            "-emit-library", "-wmo", isOptimized ? "-O" : "-Onone", "-Xfrontend", "-g",
            "-Xfrontend", "-sanitize=thread", "-parse-as-library", "-swift-version", "5",
            "-suppress-warnings", "-module-name", exercise.name,
            "-I", products.appending(path: "Modules").path,
            "-Xcc", "-fmodule-map-file=\(products.path)/CRaceLab.build/module.modulemap",
        ]
        #if os(macOS)
            let linking = ["-Xlinker", "-undefined", "-Xlinker", "dynamic_lookup"]
        #else
            let linking = ["-use-ld=lld"]
        #endif
        // Makes clocks and `.rejected` available to an answer that imports Stage 3 only.
        let operators = ["-Xfrontend", "-import-module", "-Xfrontend", "PromiseOperators"]
        let suspect = exercise.reports ? [suspectFile.path] : []
        return compiling + linking + (exercise.usesStage3 ? operators : [])
            + ["-o", library.path, answer.path] + exercise.adapterFiles.map(\.path) + suspect
    }

    // MARK: The commands

    /// Runs the commands that the driver would start. Asking the driver for them once for each
    /// exercise, instead of starting it for each answer, halves the time of a build.
    private func buildsWithScript(_ answer: URL, _ arguments: [String]) -> Bool {
        let key = "\(exercise.number) \(isOptimized)"
        let script = Workshop.scripts.withLock { scripts in
            if scripts[key] == nil { scripts[key] = commands(for: answer, arguments) }
            return scripts[key] ?? ""
        }
        guard !script.isEmpty else { return false }
        return child("/bin/sh", ["-ec", script, "sh", answer.path, folder.path]) == .status(0)
    }

    private static let scripts = Mutex<[String: String]>([:])

    /// The driver's commands as a shell script, in which `$1` is the answer and `$2` the folder.
    /// Empty if the driver fails.
    private func commands(for answer: URL, _ arguments: [String]) -> String {
        let placeholder = folder.appending(path: "AnyAnswer.swift")
        try? Data().write(to: placeholder)
        let asked = arguments.map { $0 == answer.path ? placeholder.path : $0 }
        guard driver(["-driver-print-jobs"] + asked) == .status(0) else { return "" }
        let script = Child.beginning(of: compilerOutput, lines: 400)
            // The driver has not written this file.
            .replacing(#/ -supplementary-output-file-map \S+/#, with: "")
            .replacing(#/[^\s@]*/TemporaryDirectory\.\w+//#, with: "\"$2\"/")
            .replacing(placeholder.path, with: "\"$1\"")
            .replacing(folder.path, with: "\"$2\"")
        return linkingDirectly(script)
    }

    /// On Linux, the commands with a shorter last step: the linker itself, with the object files.
    /// The driver's last two commands list the libraries of the system, and start a compiler that
    /// starts the linker with them. An answer need not name them, because the program that loads it
    /// has loaded them: all modules that an answer may import are linked to it.
    private func linkingDirectly(_ script: String) -> String {
        let commands = script.split(separator: "\n")
        guard commands.count == 3, commands[1].contains("/swift-autolink-extract "),
            let compiler = commands[0].split(separator: " ").first
        else { return script }
        let linker = compiler.replacing("swift-frontend", with: "ld.lld")
        let objects = commands[2].split(separator: " ").filter { $0.hasSuffix(".o") }
        let output = "-o \"$2\"/\(library.lastPathComponent)"
        return "\(commands[0])\n\(linker) -shared --hash-style=gnu --eh-frame-hdr \(output) "
            + objects.joined(separator: " ")
    }

    private func driver(_ arguments: [String]) -> Child.Ending {
        child("/usr/bin/env", ["swiftc"] + arguments)
    }

    private func child(_ program: String, _ arguments: [String]) -> Child.Ending {
        Child.run(
            URL(filePath: program), arguments, output: compilerOutput, atMost: .seconds(60))
    }

    private var compilerOutput: URL { folder.appending(path: "compiler") }

    private func failure(of ending: Child.Ending, of answer: URL) -> Grade.Result? {
        let said = Child.beginning(of: compilerOutput, lines: 400)
        switch ending {
        case .status(0): return nil
        case .signal(SIGINT): return .unavailable("the compiler was interrupted")
        case .status, .signal:
            if let errors = errors(in: said, of: answer) { return .doesNotCompile(errors) }
            let first = said.split(separator: "\n").first { $0.contains("error:") }
            return .unavailable(
                "the compiler failed, and not because of the answer: "
                    + (first.map(String.init) ?? said))
        // On a busy machine any answer may take long, so this is not a verdict.
        case .tookTooLong: return .unavailable("the compiler did not finish within a minute")
        case .didNotStart(let why): return .unavailable("swiftc could not be started: \(why)")
        }
    }

    /// The error messages about the answer, without source excerpts, and with short file names;
    /// `nil` if there are none.
    private func errors(in said: String, of answer: URL) -> String? {
        let lines = said.split(separator: "\n").filter { $0.contains("error:") }
        let inAnswer = lines.filter { $0.hasPrefix(answer.path) }
        if !inAnswer.isEmpty {
            return inAnswer.prefix(5).map {
                $0.replacingOccurrences(of: answer.path, with: answer.lastPathComponent)
            }.joined(separator: "\n")
        }
        let missing = exercise.adapterFiles.flatMap { misfits(in: lines, with: $0) }
        if missing.isEmpty { return crash(in: said, of: answer) }
        return missingType(in: answer) ?? missing.prefix(3).joined(separator: "\n")
    }

    /// What the compiler says if it crashes while it compiles the answer: the last place that it
    /// names; `nil` if it does not name the answer.
    private func crash(in said: String, of answer: URL) -> String? {
        let mentions = said.components(separatedBy: answer.path).dropFirst()
        guard !mentions.isEmpty else { return nil }
        let line = mentions.last { $0.hasPrefix(":") }?.dropFirst().prefix(while: \.isNumber)
        let place = line.map { "\(answer.lastPathComponent):\($0)" } ?? answer.lastPathComponent
        return "\(place): the compiler crashes, which is its own fault; write this differently"
    }

    /// A type of the stub that the answer does not declare as the stub does. The compiler's
    /// messages about that are about the grader's code.
    private func missingType(in answer: URL) -> String? {
        let written = (try? SourceText(of: answer))?.essence ?? []
        let stub = SourceText(exercise.stub(variant: variant ?? 1)).essence
        let wanted = stub.indices.dropLast(3).map { stub[$0..<$0 + 4] }.filter {
            $0.prefix(3) == ["public", "final", "class"]
        }
        let missing = wanted.first { words in
            let name = words.last!
            let declaration = written.indices.dropFirst(3).first {
                written[$0] == name && written[$0 - 1] == "class"
            }
            return declaration.map { Set(written[$0 - 3..<$0 - 1]) != ["public", "final"] } ?? true
        }
        return missing.map { "the file must declare: \($0.joined(separator: " "))" }
    }

    /// A member that an adapter does not find is missing in the answer: the adapter's line, and the
    /// message of the compiler. Each message occurs once.
    private func misfits(in errors: [Substring], with adapter: URL) -> [String] {
        let source = ((try? String(contentsOf: adapter, encoding: .utf8)) ?? "")
            .split(separator: "\n", omittingEmptySubsequences: false)
        var known: Set<String> = []
        return errors.filter { $0.hasPrefix(adapter.path) }.compactMap { error in
            let place = error.dropFirst(adapter.path.count + 1).prefix { $0.isNumber }
            let words = error.components(separatedBy: "error: ").dropFirst().joined()
            guard known.insert(words).inserted, let line = Int(place), line <= source.count
            else { return nil }
            return "the grader needs: \(source[line - 1].drop { $0 == " " }) -- \(words)"
        }
    }

    // MARK: Names

    /// What the answer and its adapters use and do not declare themselves, as in
    /// `static Dispatch.DispatchTime.now() -> Dispatch.DispatchTime`; `nil` if that could not be
    /// listed.
    func usedNames() -> [String]? {
        let list = folder.appending(path: "names")
        let ending = Child.run(
            URL(filePath: "/bin/sh"),
            ["-c", "nm -uj \"$0\" || llvm-nm -uj \"$0\"", library.path], output: list,
            atMost: .seconds(60))
        guard ending == .status(0), let text = try? String(contentsOf: list, encoding: .utf8)
        else { return nil }
        return text.split(separator: "\n").map { symbol in
            guard let name = demangled("\(symbol)", symbol.utf8.count, nil, nil, 0) else {
                return String(symbol)
            }
            defer { free(name) }
            return String(cString: name)
        }
    }

    /// The folder in which `swift build` has put this program and the modules.
    private static let products: URL? = {
        guard let program = Bundle.main.executableURL?.resolvingSymlinksInPath() else { return nil }
        let folder = program.deletingLastPathComponent()
        let modules = folder.appending(path: "Modules").path
        return FileManager.default.fileExists(atPath: modules) ? folder : nil
    }()
}
