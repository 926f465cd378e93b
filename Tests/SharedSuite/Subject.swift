import Dispatch
import FieldGuide

/// A promise to run hazards on: a stage, a step on the way to Stage 3, or a library's design in
/// miniature.
public struct Subject: Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        case stage, step, design

        /// The option of a command that takes a subject of this kind.
        public var option: String { "--\(rawValue)" }
    }

    public let kind: Kind
    enum Promise: Sendable {
        case calls(any (PromiseUnderTest & SendableMetatype).Type)
        case awaits(any (AsyncPromise<Int> & SendableMetatype).Type)
    }

    /// The word after the option: `3`, `B`, `BoltsStyle`.
    public let word: String
    /// The module that defines the class.
    public let module: String
    /// The title of its column in a matrix.
    public let title: String
    /// The promise, whose handlers run as early as it allows, which exposes races; or one with
    /// `async` functions.
    let promise: Promise
    /// The promise that runs the clauses of Promises/A+; `nil` if there is none.
    let typeForAPlus: (any (PromiseUnderTest & SendableMetatype).Type)?
    /// Registers a handler with a fulfilled promise, to run on a queue; `nil` if handlers cannot
    /// run on a queue.
    let registerOnQueue: (@Sendable (DispatchQueue, @escaping @Sendable () -> Void) -> Void)?
    /// Whether its handlers run on ``DesignQueue``, which is another thread of a race.
    let usesDesignQueue: Bool
    /// The rows that it fails, and those that its type could run but that make no sense on it. It
    /// survives all others that it can express.
    let documented: [String: Expectation]

    init(
        _ kind: Kind, _ word: String, module: String, title: String,
        _ type: any (PromiseUnderTest & SendableMetatype).Type,
        typeForAPlus: (any (PromiseUnderTest & SendableMetatype).Type)? = nil,
        registerOnQueue: (@Sendable (DispatchQueue, @escaping @Sendable () -> Void) -> Void)? = nil,
        usesDesignQueue: Bool = false, documented: [String: Expectation]
    ) {
        self.kind = kind
        self.word = word
        self.module = module
        self.title = title
        promise = .calls(type)
        self.typeForAPlus = typeForAPlus
        self.registerOnQueue = registerOnQueue
        self.usesDesignQueue = usesDesignQueue
        self.documented = documented
    }

    /// A design with `async` functions.
    init(
        _ word: String, title: String,
        awaiting type: any (AsyncPromise<Int> & SendableMetatype).Type,
        documented: [String: Expectation]
    ) {
        kind = .design
        self.word = word
        module = "FieldGuide"
        self.title = title
        promise = .awaits(type)
        (typeForAPlus, registerOnQueue, usesDesignQueue) = (nil, nil, false)
        self.documented = documented
    }

    /// The type of a promise whose functions can be called on any thread.
    var type: any (PromiseUnderTest & SendableMetatype).Type {
        guard case .calls(let type) = promise else {
            preconditionFailure("\(self) has async functions: see Hazard.obstacle(on:)")
        }
        return type
    }

    public var hasAsyncFunctions: Bool { if case .awaits = promise { true } else { false } }
}

extension Subject {
    public static func all(_ kind: Kind) -> [Subject] { all.filter { $0.kind == kind } }

    /// Finds a subject by the option of a command: `--step B`.
    public init?(_ kind: Kind, _ word: String) {
        guard let subject = Subject.all(kind).first(where: { $0.word == word }) else { return nil }
        self = subject
    }

    /// Finds a subject by its name: `Stage3ThreadSafe`, `BoltsStyle`.
    public init?(named name: String) {
        guard let subject = Subject.all.first(where: { $0.name == name }) else { return nil }
        self = subject
    }

    /// The name of its module or, for a design, of its class.
    public var name: String { kind == .design ? word : module }

    /// The option and word for a command line.
    public var option: String { "\(kind.option) \(word)" }

    /// Whether the clauses of Promises/A+ run on it.
    public var isTriedOnAPlus: Bool { typeForAPlus != nil }
}

extension Subject: CustomStringConvertible {
    public var description: String {
        switch kind {
        case .stage: "Stage \(word)"
        case .step: "Step \(word)"
        case .design: word
        }
    }
}

extension Subject: Hashable {
    public static func == (left: Subject, right: Subject) -> Bool { left.name == right.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
