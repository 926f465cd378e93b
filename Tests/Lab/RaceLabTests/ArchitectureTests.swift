import Foundation
import SharedSuite
import Testing

/// The folders of the engine, and what their files include, call and access.
private struct Architecture {
    /// The symbols of an object file: functions, and variables at file level.
    struct Symbols {
        var defined: Set<String> = []
        var needed: Set<String> = []

        /// - Parameter list: the output of `nm -P`.
        init(list: String) {
            for line in list.components(separatedBy: "\n") {
                let words = line.components(separatedBy: " ")
                // Not the functions that it replaces, such as `write`: its own calls of these reach
                // the replacement, which passes them on.
                guard words.count > 1, words[0].hasPrefix("rl_") else { continue }
                if words[1] == "U" { needed.insert(words[0]) }
                if "BDRTC".contains(words[1]) { defined.insert(words[0]) }
            }
        }
    }

    /// From the top layer to the bottom, as `State/state.h` lists them.
    let order: [String]
    /// The text of each file, by its path.
    let files: [String: String]
    /// The symbols of each source file.
    let symbols: [String: Symbols]

    init(files: [String: String], symbols: [String: Symbols]) {
        self.files = files
        self.symbols = symbols
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
        var symbols: [String: Symbols] = [:]
        for path in files.keys where path.hasSuffix(".c") {
            let isPrimitive = folder(path) == "Primitives"
            let object =
                isPrimitive
                ? "CRaceLabPrimitives.build/\(path.dropFirst("Primitives/".count)).o"
                : "CRaceLab.build/\(path).o"
            let list = try Commands.run(
                URL(filePath: "/usr/bin/env"),
                ["nm", "-P", Commands.products.appending(path: object).path])
            try #require(list.status == 0, "\(list.errors)")
            symbols[path] = Symbols(list: list.output)
        }
        return Architecture(files: files, symbols: symbols)
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

    /// The file that defines each symbol.
    private var definitions: [String: String] {
        var found: [String: String] = [:]
        for (path, symbols) in symbols {
            for name in symbols.defined { found[name] = path }
        }
        return found
    }

    var upwardUses: [String] {
        let definitions = definitions
        return symbols.keys.sorted().flatMap { path in
            symbols[path]!.needed.sorted().compactMap { name in
                guard let other = definitions[name], isUpward(path, other) else { return nil }
                return "\(path) uses \(name) of \(other)"
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

    /// The files that use one another's functions and variables in a cycle.
    var cyclesOfUses: [String] {
        let definitions = definitions
        return filesInCycles { Set(symbols[$0]?.needed.compactMap { definitions[$0] } ?? []) }
    }
}

/// Includes and uses in the engine point one way, so it can be read from the bottom up.
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

    @Test("functions and variables are used one way")
    func uses() {
        #expect(engine.symbols.count > 50)
        #expect(engine.symbols["Scheduler/decide.c"]?.defined.contains("rl_decide") == true)
        #expect(engine.upwardUses == [])
        #expect(engine.cyclesOfUses == [])
    }

    @Test("a dependency against the order, and a cycle, are noticed")
    func faults() {
        let broken = Architecture(
            files: engine.files.merging([
                "Model/fault.h": "#include \"Model/other.h\"\n#include \"Primitives/thread.h\"\n",
                "Model/other.h": "#include \"Model/fault.h\"\n",
                "Model/fault.c": "", "Model/other.c": "",
            ]) { $1 },
            symbols: engine.symbols.merging([
                "Model/fault.c": .init(list: "rl_decide U  \nrl_other U  \nrl_fault T 0 8\n"),
                "Model/other.c": .init(list: "rl_fault U  \nrl_other B 0 8\n"),
            ]) { $1 })
        #expect(broken.upwardIncludes == ["Model/fault.h includes Primitives/thread.h"])
        #expect(broken.includeCycles == ["Model/fault.h", "Model/other.h"])
        #expect(broken.withoutBuild == ["Model/fault.c", "Model/other.c"])
        #expect(broken.cyclesOfUses == ["Model/fault.c", "Model/other.c"])
        #expect(broken.upwardUses == ["Model/fault.c uses rl_decide of Scheduler/decide.c"])
    }
}
