import Foundation
import SharedSuite

extension Command {
    static let mutants = Command(
        "mutants", "plants faults that the rows must notice",
        help: """
            Copies the package to a temporary folder and plants one fault after the other there (the
            lock removed, handlers called under it, …). For each, it builds the copy, runs the rows
            that must notice the fault, and checks that they fail for the right reason. Takes two or
            three minutes. The exit status is 0 if every fault was noticed, 1 if one was not.
            """
    ) { _ in try MutantsCommand.run() }
}

/// Plants faults in a copy of the sources and checks that the matrix, or the cases of Promises/A+,
/// notice them: a test of the tests.
enum MutantsCommand {
    /// A fault: in one file of the package, one text in place of another.
    private struct Mutant {
        let name: String
        let file: String
        let edits: [(text: String, replacement: String)]
        /// The rows or clauses whose verdict must differ from the documented one, and the reason.
        let noticedBy: [(row: String, reason: String)]
    }

    static func run() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: package.appending(path: "Package.swift").path)
        else {
            throw Failure(
                description: "the sources are needed, and they are not at \(package.path)")
        }
        let copy = FileManager.default.temporaryDirectory
            .appending(path: "promise-lab-mutants-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: copy) }
        for name in ["Course", "Lab", "Package.swift", "Sources", "Tests"] {
            try FileManager.default.copyItem(
                at: package.appending(path: name), to: copy.appending(path: name))
        }
        print("Each fault is planted in a copy of the package; the checks must notice it.\n")
        var unnoticed = 0
        for mutant in mutants where !(try isNoticed(mutant, in: copy)) { unnoticed += 1 }
        guard unnoticed == 0 else {
            throw Failure(description: "\(unnoticed) faults went unnoticed")
        }
        print("\nEvery fault was noticed, by the rows and for the reasons named.")
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static func isNoticed(_ mutant: Mutant, in copy: URL) throws -> Bool {
        let file = copy.appending(path: mutant.file)
        let original = try String(contentsOf: file, encoding: .utf8)
        defer { try? original.write(to: file, atomically: true, encoding: .utf8) }
        var source = original
        for (text, replacement) in mutant.edits {
            guard source.contains(text) else {
                throw Failure(
                    description: "\(mutant.name): \(mutant.file) has no '\(text)' any more; "
                        + "adapt the mutant in \(#fileID)")
            }
            source = source.replacingOccurrences(of: text, with: replacement)
        }
        try source.write(to: file, atomically: true, encoding: .utf8)
        let build = try start(["swift", "build", "--product", "promise-lab"], in: copy)
        guard build.status == 0 else {
            throw Failure(description: "\(mutant.name): it does not compile\n\(build.output)")
        }
        let program = copy.appending(path: ".build/debug/promise-lab").path
        let runs = try commands(for: mutant).map { try start([program] + $0, in: copy) }
        let output = runs.map(\.output).joined(separator: "\n")
        let complaints = runs.flatMap { Self.complaints(in: $0.output) }
        let missing = mutant.noticedBy.filter { row, reason in
            !complaints.contains { $0.hasPrefix(row) && $0.contains(reason) }
        }
        let rows = mutant.noticedBy.map { "\($0.row): \($0.reason)" }
        if missing.isEmpty, runs.contains(where: { $0.status == 1 }) {
            print(Terminal.painted("✓ ", .green) + mutant.name)
            print(Terminal.wrapped(rows.joined(separator: "; "), indentation: "    "))
            return true
        }
        let asleep = missing.map { "\($0.row) (\($0.reason))" }.joined(separator: ", ")
        print(
            Terminal.painted("✗ ", .red)
                + Terminal.wrapped("\(mutant.name): not noticed by \(asleep)"))
        print(output)
        return false
    }

    /// The errors that a command reports, one line each, after all other output.
    private static func complaints(in output: String) -> [String] {
        output.components(separatedBy: "promise-lab: ").dropFirst()
            .map { $0.replacing("\n", with: " ") }
    }

    /// The commands for the rows that must notice and, if there are clauses among them, for all
    /// clauses.
    private static func commands(for mutant: Mutant) -> [[String]] {
        let ids = mutant.noticedBy.map { $0.row.prefix { $0 != " " } }.map(String.init)
        let hazards = ids.filter { Catalogue.hazard($0) != nil }
        let columns = mutant.file.contains("/Steps/") ? ["--steps"] : []
        let matrix = ["matrix", "--only", hazards.joined(separator: ",")] + columns
        return hazards.count < ids.count ? [matrix, ["aplus"]] : [matrix]
    }

    private static func start(
        _ words: [String], in folder: URL
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.currentDirectoryURL = folder
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    private static let stage1 = "Sources/Stage1Naive/AWPromise.swift"
    private static let stage2 = "Sources/Stage2Handlers/AWPromise.swift"
    private static let stage3 = "Sources/Stage3ThreadSafe/AWPromise.swift"
    private static let observing = "Sources/Stage3ThreadSafe/Observing.swift"
    private static let operators = "Sources/PromiseOperators"

    private static func step(_ module: String) -> String {
        "Sources/Steps/\(module)/AWPromise.swift"
    }

    /// Replaces the lock by a type that looks like one but locks nothing.
    private static let withoutLock = [
        ("Mutex(State(", "Unlocked(State("),
        (
            "/// The errors of the promise itself.",
            """
            private final class Unlocked<Value>: @unchecked Sendable {
                var value: Value
                init(_ value: Value) { self.value = value }
                func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
                    body(&value)
                }
            }

            /// The errors of the promise itself.
            """
        ),
    ]

    private static let mutants = [
        Mutant(
            name: "Stage 3 without its lock", file: stage3,
            edits: withoutLock + [("Mutex<State>", "Unlocked<State>")],
            noticedBy: ["R01", "R02", "R03", "R04", "R05", "R18"].map {
                ("\($0) on Stage 3", "overlapping modification")
            }),
        Mutant(
            name: "Stage 3 calls handlers under its lock", file: stage3,
            edits: [
                (
                    "return state.entries\n            }",
                    """
                    for entry in state.entries { entry.call(outcome, callbacks) }
                                    return state.entries
                                }
                    """
                ),
                ("for entry in batch { entry.call(outcome, callbacks) }", ""),
            ],
            noticedBy: [("H08 on Stage 3", "the lock that it took itself")]),
        Mutant(
            name: "Stage 3 calls handlers in the wrong order", file: stage3,
            edits: [("return state.entries", "return state.entries.reversed()")],
            noticedBy: [("H08 on Stage 3", "order"), ("H09 on Stage 3", "order")]),
        Mutant(
            name: "Stage 3 settles more than once", file: stage3,
            edits: [
                (
                    "guard case .pending = state.phase else { return (false, false) }",
                    "if case .draining = state.phase { return (false, false) }"
                )
            ],
            noticedBy: [("H04 on Stage 3", "documented to survive"), ("R03 on Stage 3", "survive")]),
        Mutant(
            name: "Stage 3 abandons a promise without a word", file: stage3,
            edits: [
                (
                    "deinit { settle(.failure(PromiseError.abandoned)) }",
                    "deinit { _ = promise.result }"
                )
            ],
            noticedBy: [
                ("H15 on Stage 3", "receives nothing"), ("H19 on Stage 3", "released"),
            ]),
        Mutant(
            name: "a promise may wait for itself", file: observing,
            edits: [("guard inner !== next else", "guard inner !== next || true else")],
            noticedBy: [("H11 on Stage 3", "waits for itself"), ("2.3.1 on Stage 3", "itself")]),
        Mutant(
            name: "no handler goes through its queue", file: stage3,
            edits: [("if dispatcher.runsImmediately {", "if dispatcher.runsImmediately || true {")],
            noticedBy: [
                ("H10 on Stage 3", "before the next line"), ("2.2.4 on Stage 3", "on the stack"),
            ]),
        Mutant(
            name: "Step A without its lock", file: step("StepAOneLock"), edits: withoutLock,
            noticedBy: ["R01", "R02", "R03", "R04", "R05", "R18"].map {
                ("\($0) on Step A", "overlapping modification")
            }),
        Mutant(
            name: "Step B calls handlers under its lock", file: step("StepBCallOutside"),
            edits: [
                (
                    "defer { state.handlers = [] }\n            return state.handlers",
                    """
                    for handler in state.handlers { handler(outcome) }
                                state.handlers = []
                                return []
                    """
                )
            ],
            noticedBy: [
                ("H08 on Step B", "the lock that it took itself"), ("R09 on Step B", "deadlock"),
                ("R10 on Step B", "deadlock"),
            ]),
        Mutant(
            name: "Step C skips its third phase", file: step("StepCThirdPhase"),
            edits: [
                (
                    "state.phase = hasHandlers ? .draining(outcome) : .settled(outcome)",
                    "state.phase = .settled(outcome)"
                )
            ],
            noticedBy: ["H08", "R06"].map { ("\($0) on Step C", "order") }),
        Mutant(
            name: "Step D makes a callback inside another", file: step("StepDCallbackQueue"),
            edits: [
                (
                    "if let queue { return queue.waiting.append(callback) }",
                    "if let queue { return callback(queue) }"
                )
            ],
            noticedBy: [("H12 on Step D", "the process was lost")]),
        Mutant(
            name: "Step E sends no handler through its queue", file: step("StepEDispatchers"),
            edits: [("if dispatcher.runsImmediately {", "if dispatcher.runsImmediately || true {")],
            noticedBy: [("H10 on Step E", "before the next line")]),
        Mutant(
            name: "`all` counts without an atomic", file: "\(operators)/All.swift",
            edits: [
                (
                    "private let remaining: Atomic<Int>",
                    "nonisolated(unsafe) private var remaining: Int"
                ),
                ("remaining = Atomic(start)", "remaining = start"),
                (
                    "remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0",
                    "remaining = remaining - 1; return remaining == 0"
                ),
            ],
            noticedBy: [("R14 on Stage 3", "never sent")]),
        Mutant(
            name: "`all` with a limit swallows a rejection",
            file: "\(operators)/AllWithLimit.swift",
            edits: [("Nesting.run { self.resolver.reject(error) }", "_ = error")],
            noticedBy: [("R15 on Stage 3", "never sent")]),
        Mutant(
            name: "`race` and `all` settle under a lock of their own",
            file: "\(operators)/Follow.swift",
            edits: [
                (
                    "extension Resolver {",
                    "import Synchronization\nprivate let lock = Mutex(())\nextension Resolver {"
                ),
                (
                    "guard let decision = decide(outcome) else { return }",
                    "lock.withLock { _ in guard let decision = decide(outcome) else { return }"
                ),
                ("Nesting.run { self.settle(decision) }", "_ = self.settle(decision) }"),
            ],
            noticedBy: [("R17 on Stage 3", "deadlock")]),
        Mutant(
            name: "an observer of a cancelled token is forgotten",
            file: "\(operators)/Cancellation.swift",
            edits: [
                (
                    "promise.observe(on: dispatcher) { outcome in",
                    """
                    let isLate = isCancelled
                            return promise.observe(on: dispatcher) { outcome in
                                if isLate { return }
                    """
                )
            ],
            noticedBy: [("R19 on Stage 3", "never called")]),
        Mutant(
            name: "`value` looks whether the promise is pending, and then registers",
            file: "\(operators)/Concurrency.swift",
            edits: [
                (
                    "observation = observe(on: here) { resolver.settle($0) }",
                    "if result == nil { observation = observe(on: here) { resolver.settle($0) } }"
                )
            ],
            noticedBy: [("R20 on Stage 3", "deadlock")]),
        Mutant(
            name: "a cancelled task waits for the promise",
            file: "\(operators)/Concurrency.swift",
            edits: [("resolver.reject(CancellationError())", "_ = resolver")],
            noticedBy: [("R21 on Stage 3", "rejected CancellationError()")]),
        Mutant(
            name: "only one task at a time may wait", file: "\(operators)/Concurrency.swift",
            edits: [
                (
                    "extension AWPromise {",
                    "import Synchronization\nprivate let isTaken = Mutex(false)\nextension AWPromise {"
                ),
                (
                    "let here = ImmediateDispatcher()\n            let (answer",
                    """
                    guard isTaken.withLock({ taken in defer { taken = true }; return !taken }) else {
                        throw OperatorError.timedOut
                    }
                    defer { isTaken.withLock { $0 = false } }
                    let here = ImmediateDispatcher()
                    let (answer
                    """
                ),
            ],
            noticedBy: [("R22 on Stage 3", "never sent")]),
        Mutant(
            name: "`wait` blocks on any queue", file: "\(operators)/Waiting.swift",
            edits: [("if SerialQueue.isCurrent { throw OperatorError.wouldWaitForItself }", "")],
            noticedBy: [("H18 on Stage 3", "waits on its own queue")]),
        Mutant(
            name: "Stage 2 without settle-once", file: stage2,
            edits: [("guard case .pending = state else { return }", "")],
            noticedBy: [("H05 on Stage 2", "documented to survive")]),
        Mutant(
            name: "Stage 1 with a list instead of a slot", file: stage1,
            edits: [
                (
                    "private var f_then: ResolveFunction?",
                    "private var f_then: [ResolveFunction] = []"
                ),
                ("f_then?(value)", "for handler in f_then { handler(value) }"),
                ("f_then = handler", "f_then.append(handler)"),
            ],
            noticedBy: [("H02 on Stage 1", "documented to fail, but survives")]),
    ]
}
