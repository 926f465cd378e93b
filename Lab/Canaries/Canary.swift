/// A tiny program that uses one family of entry points, and whose results under every interleaving
/// are known. If the lab finds other results, it does not observe this family with the installed
/// toolchain.
///
/// This target is compiled like code under test: not optimized, and with visible atomics.
public struct Canary: Sendable {
    /// The results of all interleavings.
    public struct Results: Equatable, Sendable, CustomStringConvertible {
        public let outcomes: Set<String>
        /// Whether some interleaving has a data race.
        public let hasDataRace: Bool

        public init(_ outcomes: Set<String>, hasDataRace: Bool) {
            self.outcomes = outcomes
            self.hasDataRace = hasDataRace
        }

        public var description: String {
            (outcomes.sorted() + [hasDataRace ? "a data race" : "no data race"])
                .joined(separator: ", ")
        }
    }

    public enum Body {
        case thread(() -> Void)
        case task(() async -> Void)
        /// A thread that can send work to a thread of the lab's own.
        case sender((_ send: @escaping (@escaping @Sendable () -> Void) -> Void) -> Void)
    }

    /// One run of the program.
    public struct Run {
        public let bodies: [Body]
        public let outcome: () -> String
    }

    public let family: Family
    public let expected: Results
    public let begin: @Sendable () -> Run

    init(
        _ family: Family, _ outcomes: Set<String>, hasDataRace: Bool = false,
        _ begin: @escaping @Sendable () -> Run
    ) {
        self.family = family
        self.expected = Results(outcomes, hasDataRace: hasDataRace)
        self.begin = begin
    }

    /// Two threads that run the same code.
    static func twice(
        _ outcome: @escaping () -> String, _ body: @escaping () -> Void
    ) -> Run {
        Run(bodies: [.thread(body), .thread(body)], outcome: outcome)
    }

    static func threads(
        _ outcome: @escaping () -> String, _ bodies: (() -> Void)...
    ) -> Run {
        Run(bodies: bodies.map(Body.thread), outcome: outcome)
    }

    static func tasks(
        _ outcome: @escaping () -> String, _ bodies: (() async -> Void)...
    ) -> Run {
        Run(bodies: bodies.map(Body.task), outcome: outcome)
    }
}

// MARK: - All canaries

extension Canary {
    #if os(Linux)
        /// One for each family.
        public static let all =
            memory + lasting + atomics + locks + library + references + concurrency
    #else
        /// One for each family that the lab observes on this platform.
        public static let all = memory + lasting + atomics + locks
    #endif

    private static let memory = [
        Canary(.properties, ["1", "2"], hasDataRace: true) {
            let box = Box(0)
            return twice({ "\(box.value)" }) {
                let seen = box.value
                box.value = seen + 1
            }
        },
        Canary(.capturedVariables, ["1", "2"], hasDataRace: true) {
            var value = 0
            return twice({ "\(value)" }) {
                let seen = value
                value = seen + 1
            }
        },
        Canary(.globals, ["1", "2"], hasDataRace: true) {
            global = 0
            return twice({ "\(global)" }) {
                let seen = global
                global = seen + 1
            }
        },
        Canary(.genericProperties, ["1", "2"], hasDataRace: true) {
            let box = Box(0)
            return twice({ "\(box.value)" }) { replace(in: box) { $0 + 1 } }
        },
        Canary(.keyPaths, ["1", "2"], hasDataRace: true) {
            let box = Box(0)
            return twice({ "\(box.value)" }) {
                let seen = read(box, \.value)
                write(seen + 1, to: box, \.value)
            }
        },
    ]
}

nonisolated(unsafe) private var global = 0

final class Box<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}

@inline(never)
private func replace<Value>(in box: Box<Value>, by function: (Value) -> Value) {
    let seen = box.value
    box.value = function(seen)
}

@inline(never)
private func read<Root, Value>(_ root: Root, _ path: KeyPath<Root, Value>) -> Value {
    root[keyPath: path]
}

@inline(never)
private func write<Root, Value>(
    _ value: Value, to root: Root, _ path: ReferenceWritableKeyPath<Root, Value>
) {
    root[keyPath: path] = value
}
