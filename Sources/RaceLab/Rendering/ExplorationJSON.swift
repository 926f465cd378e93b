extension Exploration {
    /// The report for machines. The fields are described in Sources/RaceLab/RaceLab.docc/JSON.md; they always
    /// come in the same order, and the same report is always the same bytes.
    ///
    /// `version` grows when a field changes its meaning or disappears, not when one is added.
    public var json: String {
        JSONValue.object([
            ("version", .int(1)),
            ("kind", .string("report")),
            ("verdict", .string(wordOfVerdict)),
            ("summary", .string(summary)),
            ("inconclusive", .string(inconclusive?.description)),
            ("threads", .strings(threads)),
            ("coverage", coverage.json),
            ("endedBy", .string(limit?.rawValue)),
            ("failingKinds", .strings(options.failingKinds.sorted().map { "\($0)" })),
            ("explored", .int(explored)),
            ("redundant", .int(redundant)),
            ("failing", .int(failing)),
            ("findings", .array(findings.map { $0.json(threads: threads) })),
            ("otherFindings", .array(otherFindings.map { $0.json(threads: threads) })),
            ("outcomes", .array(allOutcomes.map(\.json))),
            ("unreached", .strings(unreached.map(\.outcome))),
            ("weakOrderings", .bool(hasWeakOrderings)),
            ("passingSchedule", .string(passingSchedule?.text(threads: threads))),
        ]).text
    }
}

extension Exploration {
    private var wordOfVerdict: String {
        if inconclusive != nil { return "none" }
        if failing > 0 { return "fails" }
        return survives ? "survives" : "noFailure"
    }
}

extension Exploration.Coverage {
    var json: JSONValue {
        switch self {
        case .all: .object([("kind", .string("all")), ("limit", .null)])
        case .atMost(let count):
            .object([("kind", .string("atMostPreemptions")), ("limit", .int(count))])
        case .first(let count): .object([("kind", .string("first")), ("limit", .int(count))])
        }
    }
}

extension Exploration.Outcome {
    var json: JSONValue {
        .object([
            ("outcome", .string(outcome)),
            ("count", .int(count)),
            ("declared", .string(expected?.verdict.rawValue)),
            ("meaning", .string(expected?.meaning)),
        ])
    }
}
