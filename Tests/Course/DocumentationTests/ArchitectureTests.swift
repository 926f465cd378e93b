import Foundation
import SharedSuite
import Testing

/// The folders of the engine, and what their files include and call.
private struct Architecture {
    /// From the top layer to the bottom, as `State/state.h` lists them.
    let order: [String]
    /// The text of each file, by its path.
    let files: [String: String]
    init(files: [String: String]) {
        self.files = files
        let state = files["State/state.h"]?.replacing("\n//", with: "") ?? ""
        let sentence = /from the first of these folders to the last: ([^.]*)\./
        order = state.firstMatch(of: sentence)?.1.components(separatedBy: ", ") ?? []
    }

    static func ofEngine() throws -> Architecture {
        let root = Commands.package.appending(path: "Lab/CRaceLab").standardizedFileURL
        let all = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        var files: [String: String] = [:]
        for case let file as URL in all! where ["c", "h"].contains(file.pathExtension) {
            let path = String(file.standardizedFileURL.path.dropFirst(root.path.count + 1))
            // The interface to Swift, and the build without hooks, are outside the order.
            if path.hasPrefix("include/") || path == "without_hooks.c" { continue }
            files[path] = try String(contentsOf: file, encoding: .utf8)
        }
        return Architecture(files: files)
    }

    private static func names(in text: String) -> [String] {
        text.matches(of: /\brl_\w+(?=\()/).map { String($0.0) }
    }

    private static func folder(_ path: String) -> String {
        path.components(separatedBy: "/")[0]
    }

    func includes(_ path: String) -> [String] {
        files[path]!.matches(of: /(?m)^#include "([^"]+)"/).map { String($0.1) }
            .filter { $0 != "CRaceLab.h" }
    }

    /// Whether a dependency of one folder on another points upward.
    private func isUpward(_ from: String, _ to: String) -> Bool {
        guard let start = order.firstIndex(of: Self.folder(from)),
            let end = order.firstIndex(of: Self.folder(to))
        else { return true }
        return end < start
    }

    var upwardIncludes: [String] {
        files.keys.sorted().flatMap { path in
            includes(path).filter { isUpward(path, $0) }.map { "\(path) includes \($0)" }
        }
    }

    /// The folder that defines each function: at the start of a line that is not a declaration.
    private var definitions: [String: String] {
        var found: [String: String] = [:]
        for (path, text) in files {
            for line in text.components(separatedBy: "\n") {
                guard let first = line.first, first.isLetter || first == "_", !line.hasSuffix(";"),
                    path.hasSuffix(".c") || line.hasPrefix("static inline"),
                    let name = Self.names(in: line.components(separatedBy: "{")[0]).first
                else { continue }
                found[name] = path
            }
        }
        return found
    }

    var upwardCalls: [String] {
        let definitions = definitions
        return files.keys.sorted().filter { $0.hasSuffix(".c") }.flatMap { path in
            Set(Self.names(in: files[path]!)).sorted().compactMap { name in
                guard let other = definitions[name], isUpward(path, other) else { return nil }
                return "\(path) calls \(name) of \(other)"
            }
        }
    }

    /// The files from which `next` leads back to them.
    private func filesInCycles(_ next: (String) -> Set<String>) -> [String] {
        files.keys.sorted().filter { goal in
            var seen: Set<String> = []
            var waiting = [goal]
            while let path = waiting.popLast() {
                let others = next(path)
                if others.contains(goal) { return true }
                waiting += others.filter { seen.insert($0).inserted }
            }
            return false
        }
    }

    var includeCycles: [String] {
        filesInCycles { files[$0] == nil ? [] : Set(includes($0)) }
    }

    /// The source files that do not include `Platform/build.h` before a condition or a system
    /// header: they would be compiled into a release build.
    var withoutBuild: [String] {
        func leadsToBuild(_ path: String) -> Bool {
            path == "Platform/build.h"
                || files[path] != nil && includes(path).contains(where: leadsToBuild)
        }
        return files.keys.filter { $0.hasSuffix(".c") }.sorted().filter { path in
            let beginning = files[path]!.components(separatedBy: "\n")
                .prefix { !$0.hasPrefix("#if") && !$0.hasPrefix("#include <") }
            return !beginning.contains { line in
                line.firstMatch(of: /^#include "([^"]+)"/).map { leadsToBuild(String($0.1)) }
                    ?? false
            }
        }
    }

    /// The files that call one another in a cycle. Naming a function counts as a call; its
    /// declaration in a header does not.
    var callCycles: [String] {
        let definitions = definitions
        let calls = files.filter { $0.key.hasSuffix(".c") }.mapValues { text in
            Set(
                text.replacing(/\/\/.*/, with: "").matches(of: /\brl_\w+/)
                    .compactMap { definitions[String($0.0)] })
        }
        return filesInCycles { path in (calls[path] ?? []).filter { $0 != path } }
    }
}

/// Includes and calls in the engine point one way, so it can be read from the bottom up.
@Suite("Architecture of the engine")
struct ArchitectureTests {
    private let engine: Architecture

    init() throws { engine = try Architecture.ofEngine() }

    @Test("every folder is in the order")
    func folders() {
        let folders = engine.files.keys.map { $0.components(separatedBy: "/")[0] }
        #expect(Set(folders) == Set(engine.order))
        #expect(engine.order.count == Set(engine.order).count)
    }

    @Test("includes point one way")
    func includes() {
        #expect(engine.upwardIncludes == [])
        #expect(engine.includeCycles == [])
        #expect(engine.withoutBuild == [])
    }

    @Test("calls point one way")
    func calls() {
        #expect(engine.upwardCalls == [])
        #expect(engine.callCycles == [])
    }

    @Test("a dependency against the order, and a cycle, are noticed")
    func faults() {
        let broken = Architecture(
            files: engine.files.merging([
                "Model/fault.h": "#include \"Model/other.h\"\n#include \"Primitives/thread.h\"\n",
                "Model/other.h": "#include \"Model/fault.h\"\n",
                "Model/fault.c": "void rl_fault(void) {\n    rl_decide();\n    rl_other();\n}\n",
                "Model/other.c": "void rl_other(void) {\n    use(rl_fault);  // rl_point\n}\n",
            ]) { $1 })
        #expect(broken.upwardIncludes == ["Model/fault.h includes Primitives/thread.h"])
        #expect(broken.includeCycles == ["Model/fault.h", "Model/other.h"])
        #expect(broken.withoutBuild == ["Model/fault.c", "Model/other.c"])
        #expect(broken.callCycles == ["Model/fault.c", "Model/other.c"])
        #expect(broken.upwardCalls == ["Model/fault.c calls rl_decide of Scheduler/decide.c"])
    }
}
