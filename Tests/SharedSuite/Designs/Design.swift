import RaceLab

/// The design of a library, rebuilt in miniature: see `Sources/FieldGuide`.
public enum Design: String, CaseIterable, Sendable, Codable, CustomStringConvertible {
    case bolts = "BoltsStyle"
    case promiseKit = "PromiseKitStyle"
    case google = "GooglePromisesStyle"

    public var description: String { rawValue }

    /// The name of the library, for the head of a column.
    public var library: String {
        switch self {
        case .bolts: "Bolts"
        case .promiseKit: "PromiseKit"
        case .google: "Google"
        }
    }
}

/// Whatever a hazard can be run on.
public enum Subject: Hashable, Sendable, CustomStringConvertible {
    case stage(Stage)
    case design(Design)

    public static let stages = Stage.allCases.map(Subject.stage)
    public static let designs = Design.allCases.map(Subject.design)

    /// By the name of its module, or of its class: `Stage3ThreadSafe`, `BoltsStyle`.
    public init?(named name: String) {
        guard let subject = (Subject.stages + Subject.designs).first(where: { $0.name == name })
        else { return nil }
        self = subject
    }

    public var name: String {
        switch self {
        case .stage(let stage): stage.module
        case .design(let design): design.rawValue
        }
    }

    public var description: String {
        switch self {
        case .stage(let stage): stage.description
        case .design(let design): design.description
        }
    }

    /// How to ask for it on a command line.
    public var option: String {
        switch self {
        case .stage(let stage): "--stage \(stage.rawValue)"
        case .design(let design): "--design \(design.rawValue)"
        }
    }
}

// MARK: - Hazards, on either

extension Hazard {
    public func expectation(on subject: Subject) -> Expectation {
        switch subject {
        case .stage(let stage): expectation(on: stage)
        case .design(let design): design.expectation(id)
        }
    }

    public func run(on subject: Subject) -> Verdict {
        switch subject {
        case .stage(let stage): return run(on: stage)
        case .design(let design):
            if case .cannotExpress(let why) = design.expectation(id) { return .cannotExpress(why) }
            DesignQueue.useCaller()
            return run(on: design)
        }
    }

    private func run(on design: Design) -> Verdict {
        switch self {
        case let hazard as any OneThreadHazard:
            verdictOfOneThread { try design.open(PlayOnOneThread(hazard: hazard)) }
        case let hazard as any FlatteningHazard:
            verdictOfOneThread { try design.open(PlayFlattening(hazard: hazard)) }
        case let hazard as any DesignHazard: hazard.run(on: design)
        case let race as any Race: race.verdict([Explored.report(of: race, on: .design(design))])
        default: .unknown("nobody has said how to run \(id) on a design")
        }
    }
}

/// A hazard that is run on a design in a way of its own.
protocol DesignHazard: Hazard {
    func run(on design: Design) -> Verdict
}

extension Race {
    /// The scenario on a stage or a design.
    public func scenario(on subject: Subject) -> (Scenario) -> Void {
        switch subject {
        case .stage(let stage): scenario(on: stage)
        case .design(let design): { describe($0, on: design) }
        }
    }

    public func report(on subject: Subject) -> Report {
        explore(options: options, scenario(on: subject))
    }

    /// What was found, beginning with what is documented first.
    public func findings(of report: Report, on subject: Subject) -> [Finding] {
        guard case .fails(let first, _) = expectation(on: subject) else { return report.findings }
        let isFirst = { (finding: Finding) in Reason(finding) == first }
        return report.findings.filter(isFirst) + report.findings.filter { !isFirst($0) }
    }

    private func describe(_ scenario: Scenario, on design: Design) {
        switch design {
        case .google:
            // Work that is sent to the queue is one more thread of the interleaving. When the
            // checks begin that thread has come to its end.
            DesignQueue.use(scenario.queue("queue"))
            scenario.check { DesignQueue.useCaller() }
        default: DesignQueue.useCaller()
        }
        try? design.open(Describe(race: self, scenario: scenario))
    }
}

// MARK: - From a design to its type

/// Something to be done with the type of a design.
protocol DesignVisitor<Answer> {
    associatedtype Answer
    func visit<P: FlatteningPromise>(_ promise: P.Type) throws -> Answer
}

extension Design {
    func open<Answer>(_ visitor: some DesignVisitor<Answer>) throws -> Answer {
        switch self {
        case .bolts: try visitor.visit(Bolts.self)
        case .promiseKit: try visitor.visit(PromiseKit.self)
        case .google: try visitor.visit(Google.self)
        }
    }
}

private struct PlayOnOneThread: DesignVisitor {
    let hazard: any OneThreadHazard
    func visit<P: FlatteningPromise>(_ promise: P.Type) throws -> String {
        try hazard.play(promise)
    }
}

private struct PlayFlattening: DesignVisitor {
    let hazard: any FlatteningHazard
    func visit<P: FlatteningPromise>(_ promise: P.Type) throws -> String {
        try hazard.play(promise)
    }
}

private struct Describe: DesignVisitor {
    let race: any Race
    let scenario: Scenario
    func visit<P: FlatteningPromise>(_ promise: P.Type) throws {
        race.describe(scenario, promise)
    }
}
