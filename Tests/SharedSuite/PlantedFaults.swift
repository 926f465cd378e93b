import Foundation

/// A fault that the rows of the matrix, or the clauses of Promises/A+, must notice: in one file of
/// the package, one text in place of another.
package struct PlantedFault: Sendable {
    package let name: String
    package let file: String
    package let edits: [(text: String, replacement: String)]
    /// The rows or clauses whose verdict must differ from the documented one, and the reason.
    package let noticedBy: [(row: String, reason: String)]
}

extension PlantedFault {
    /// All faults, in batches that share a build: faults in different columns of the matrix do not
    /// hide one another.
    package static var batches: [[PlantedFault]] {
        all.reduce(into: []) { batches, fault in
            let place = batches.firstIndex { !$0.contains { $0.column == fault.column } }
            if let place { batches[place].append(fault) } else { batches.append([fault]) }
        }
    }

    private var column: String {
        let column = noticedBy[0].row.components(separatedBy: " on ").last!
        // One command shows all steps. If one of them crashes, it shows no others.
        return column.hasPrefix("Step") ? "all steps" : column
    }

    /// The commands for the rows that must notice and, if there are clauses among them, for all
    /// clauses.
    package var commands: [[String]] {
        let ids = noticedBy.map { $0.row.prefix { $0 != " " } }.map(String.init)
        let hazards = ids.filter { Catalogue.hazard($0) != nil }
        let columns = file.contains("/Steps/") ? ["--steps"] : []
        let matrix = ["matrix", "--only", hazards.joined(separator: ",")] + columns
        return hazards.count < ids.count ? [matrix, ["aplus"]] : [matrix]
    }

    /// The text of its file, with the fault.
    package func planted(in original: String) throws -> String {
        try edits.reduce(original) { source, edit in
            guard source.contains(edit.text) else { throw Outdated(fault: self, text: edit.text) }
            return source.replacing(edit.text, with: edit.replacement)
        }
    }

    /// The source has changed since the fault was written.
    private struct Outdated: Error, CustomStringConvertible {
        let fault: PlantedFault
        let text: String

        var description: String {
            "\(fault.name): \(fault.file) has no '\(text)' any more; "
                + "adapt the fault in Tests/SharedSuite/PlantedFaults.swift"
        }
    }

    /// The rows and clauses that must notice it and do not, if its commands wrote this to standard
    /// error.
    package func missing(from errors: [String]) -> [(row: String, reason: String)] {
        // What the commands report, one line each.
        let complaints = errors.flatMap { text in
            text.components(separatedBy: "promise-lab: ").dropFirst()
                .map { $0.replacing("\n", with: " ") }
        }
        return noticedBy.filter { row, reason in
            !complaints.contains { $0.hasPrefix(row) && $0.contains(reason) }
        }
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

    package static let all = [
        PlantedFault(
            name: "Stage 3 without its lock", file: stage3,
            edits: withoutLock + [("Mutex<State>", "Unlocked<State>")],
            noticedBy: ["R01", "R02", "R03", "R04", "R05", "R18"].map {
                ("\($0) on Stage 3", "overlapping modification")
            }),
        PlantedFault(
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
        PlantedFault(
            name: "Stage 3 calls handlers in the wrong order", file: stage3,
            edits: [("return state.entries", "return state.entries.reversed()")],
            noticedBy: [("H08 on Stage 3", "order"), ("H09 on Stage 3", "order")]),
        PlantedFault(
            name: "Stage 3 settles more than once", file: stage3,
            edits: [
                (
                    "guard case .pending = state.phase else { return (false, false) }",
                    "if case .draining = state.phase { return (false, false) }"
                )
            ],
            noticedBy: [("H04 on Stage 3", "documented to survive"), ("R03 on Stage 3", "survive")]),
        PlantedFault(
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
        PlantedFault(
            name: "a promise may wait for itself", file: observing,
            edits: [("guard inner !== next else", "guard inner !== next || true else")],
            noticedBy: [("H11 on Stage 3", "waits for itself"), ("2.3.1 on Stage 3", "itself")]),
        PlantedFault(
            name: "no handler goes through its queue", file: stage3,
            edits: [("if dispatcher.runsImmediately {", "if dispatcher.runsImmediately || true {")],
            noticedBy: [
                ("H10 on Stage 3", "before the next line"), ("2.2.4 on Stage 3", "on the stack"),
            ]),
        PlantedFault(
            name: "Step A without its lock", file: step("StepAOneLock"), edits: withoutLock,
            noticedBy: ["R01", "R02", "R03", "R04", "R05", "R18"].map {
                ("\($0) on Step A", "overlapping modification")
            }),
        PlantedFault(
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
        PlantedFault(
            name: "Step C skips its third phase", file: step("StepCThirdPhase"),
            edits: [
                (
                    "state.phase = hasHandlers ? .draining(outcome) : .settled(outcome)",
                    "state.phase = .settled(outcome)"
                )
            ],
            noticedBy: ["H08", "R06"].map { ("\($0) on Step C", "order") }),
        PlantedFault(
            name: "Step D makes a callback inside another", file: step("StepDCallbackQueue"),
            edits: [
                (
                    "if let queue { return queue.waiting.append(callback) }",
                    "if let queue { return callback(queue) }"
                )
            ],
            noticedBy: [("H12 on Step D", "the process crashed")]),
        PlantedFault(
            name: "Step E sends no handler through its queue", file: step("StepEDispatchers"),
            edits: [("if dispatcher.runsImmediately {", "if dispatcher.runsImmediately || true {")],
            noticedBy: [("H10 on Step E", "before the next line")]),
        PlantedFault(
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
        PlantedFault(
            name: "`all` with a limit swallows a rejection",
            file: "\(operators)/AllWithLimit.swift",
            edits: [("Nesting.run { self.resolver.reject(error) }", "_ = error")],
            noticedBy: [("R15 on Stage 3", "never sent")]),
        PlantedFault(
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
        PlantedFault(
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
        PlantedFault(
            name: "`value` looks whether the promise is pending, and then registers",
            file: "\(operators)/Concurrency.swift",
            edits: [
                (
                    "observation = observe(on: here) { resolver.settle($0) }",
                    "if result == nil { observation = observe(on: here) { resolver.settle($0) } }"
                )
            ],
            noticedBy: [("R20 on Stage 3", "deadlock")]),
        PlantedFault(
            name: "a cancelled task waits for the promise",
            file: "\(operators)/Concurrency.swift",
            edits: [("resolver.reject(CancellationError())", "_ = resolver")],
            noticedBy: [("R21 on Stage 3", "rejected CancellationError()")]),
        PlantedFault(
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
        PlantedFault(
            name: "`wait` blocks on any queue", file: "\(operators)/Waiting.swift",
            edits: [("if SerialQueue.isCurrent { throw OperatorError.wouldWaitForItself }", "")],
            noticedBy: [("H18 on Stage 3", "waits on its own queue")]),
        PlantedFault(
            name: "Stage 2 without settle-once", file: stage2,
            edits: [("guard case .pending = state else { return }", "")],
            noticedBy: [("H05 on Stage 2", "documented to survive")]),
        PlantedFault(
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
