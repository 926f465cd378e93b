/// The clauses of Promises/A+ 1.1 (promisesaplus.com) that apply to typed Swift, with their numbers
/// there. The cases follow its text.
public enum APlusClause: String, CaseIterable, Sendable, CustomStringConvertible {
    case fulfilledIsFinal = "2.1.2"
    case rejectedIsFinal = "2.1.3"
    case valueHandler = "2.2.2"
    case errorHandler = "2.2.3"
    case cleanStack = "2.2.4"
    case severalHandlers = "2.2.6"
    case nextPromise = "2.2.7"
    case returnsItself = "2.3.1"
    case adoptsPromise = "2.3.2"
    case plainValue = "2.3.4"

    /// The requirement, in a few words.
    public var title: String {
        switch self {
        case .fulfilledIsFinal: "fulfilled for good, one value"
        case .rejectedIsFinal: "rejected for good, one error"
        case .valueHandler: "value handler: after it, once"
        case .errorHandler: "error handler: after it, once"
        case .cleanStack: "handlers have a clean stack"
        case .severalHandlers: "several handlers, in order"
        case .nextPromise: "value, throw, pass-through"
        case .returnsItself: "not resolved with itself"
        case .adoptsPromise: "adopts the promise returned"
        case .plainValue: "a plain value fulfills"
        }
    }

    public var description: String { "\(rawValue) \(title)" }

    /// Runs all cases of the clause that a subject can express. Empty if the subject is not tested.
    public func results(on subject: Subject) -> [APlusResult] {
        guard let type = subject.typeForAPlus else { return [] }
        return results(type, on: subject)
    }

    private func results<P: PromiseUnderTest>(
        _ promise: P.Type, on subject: Subject
    ) -> [APlusResult] {
        var results = cases(promise).map { $0.result(on: subject) }
        if let type = promise as? any FlatteningPromise.Type {
            results += flattening(type, on: subject)
        }
        if let type = promise as? any RecoveringPromise.Type {
            results += recovering(type, on: subject)
        }
        return results
    }

    private func flattening<P: FlatteningPromise>(
        _ promise: P.Type, on subject: Subject
    ) -> [APlusResult] {
        flatteningCases(promise).map { $0.result(on: subject) }
    }

    private func recovering<P: RecoveringPromise>(
        _ promise: P.Type, on subject: Subject
    ) -> [APlusResult] {
        recoveringCases(promise).map { $0.result(on: subject) }
    }

    private func cases<P: PromiseUnderTest>(_ promise: P.Type) -> [APlusCase<P>] {
        let all = APlusCases<P>()
        return switch self {
        case .fulfilledIsFinal: all.settlingAgain(after: .fulfilled)
        case .rejectedIsFinal: all.settlingAgain(after: .rejected)
        case .valueHandler: all.valueHandler
        case .errorHandler: all.errorHandler
        case .cleanStack: all.cleanStack
        case .severalHandlers: all.severalHandlers
        case .nextPromise: all.nextPromise
        case .returnsItself, .adoptsPromise: []
        case .plainValue: all.plainValue
        }
    }

    private func flatteningCases<P: FlatteningPromise>(_ promise: P.Type) -> [APlusCase<P>] {
        let all = APlusCases<P>()
        return switch self {
        case .nextPromise: all.nextPromiseFlattening
        case .returnsItself: all.returnsItself
        case .adoptsPromise: all.adoptsPromise
        default: []
        }
    }

    private func recoveringCases<P: RecoveringPromise>(_ promise: P.Type) -> [APlusCase<P>] {
        let all = APlusCases<P>()
        return switch self {
        case .nextPromise: all.nextPromiseRecovering
        case .returnsItself: all.recoveryReturnsItself
        case .adoptsPromise: all.recoveryAdoptsPromise
        case .plainValue: all.recoveryWithPlainValue
        default: []
        }
    }

    /// Clauses that cannot be expressed, or only in part, and the reasons.
    public static let notExpressible: [(clause: String, reason: String)] = [
        (
            "2.2.1",
            "arguments of `then` that are not functions are ignored: the type of `then` accepts "
                + "functions only, so the compiler refuses anything else"
        ),
        (
            "2.2.5",
            "handlers are called as functions, without `this`: a function in Swift has no `this`"
        ),
        (
            "2.2.7.3",
            "a value passes a `then` that has no function for it: on Stage 3 that is `recover`, "
                + "which Stages 1 and 2 do not have; their `error` ends the chain"
        ),
        (
            "2.3.1",
            "and 2.3.2, on Stage 1: its `then` treats a returned promise as a plain value, and "
                + "yields a promise of a promise"
        ),
        (
            "2.3.3",
            "objects that happen to have a `then` are adopted: in Swift the type of an object says "
                + "whether it is a promise, so nothing has to be checked when the program runs"
        ),
    ]
}

/// All cases for one type of promise.
struct APlusCases<P: PromiseUnderTest> {
    typealias Case = APlusCase<P>
}

extension Subject {
    /// Subjects with a flattening `then` whose handlers run inside it, or inside the settlement: H10.
    static let callingEarly = all.filter {
        $0.isTriedOnAPlus && $0.flatteningType != nil && $0.documented["H10"] != nil
    }

    static func failing(_ reason: Reason, _ subjects: [Subject]) -> [Subject: Reason] {
        Dictionary(uniqueKeysWithValues: subjects.map { ($0, reason) })
    }
}

/// One case, and the subjects that are documented to fail it.
struct APlusCase<P: PromiseUnderTest> {
    let name: String
    let failing: [Subject: Reason]
    let run: (Bench<P>) throws -> Void

    init(
        _ name: String, failing: [Subject: Reason] = [:], _ run: @escaping (Bench<P>) throws -> Void
    ) {
        self.name = name
        self.failing = failing
        self.run = run
    }

    func result(on subject: Subject) -> APlusResult {
        let verdict = SharedSuite.verdict {
            try run(Bench<P>())
            return "as the specification says"
        }
        return APlusResult(name: name, documented: failing[subject], verdict: verdict)
    }
}

/// The result of one case.
public struct APlusResult: Sendable {
    public let name: String
    /// The reason for which it is documented to fail; `nil` if it must pass.
    public let documented: Reason?
    public let verdict: Verdict

    public var passed: Bool {
        if case .survives = verdict { true } else { false }
    }

    /// The difference between the result and the documentation; `nil` if there is none.
    public var difference: String? {
        verdict.difference(from: documented.map { .fails($0) } ?? .survives).map {
            "\(name): \($0)"
        }
    }
}
