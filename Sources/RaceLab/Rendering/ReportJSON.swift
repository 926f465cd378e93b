extension Report {
    /// The report for machines. The fields are described in Sources/RaceLab/JSON.md; they always
    /// come in the same order, and the same report is always the same bytes.
    ///
    /// `version` grows when a field changes its meaning or disappears, not when one is added.
    public var json: String {
        JSONValue.object([
            ("version", .int(1)),
            ("kind", .string("report")),
            ("verdict", .string(wordOfVerdict)),
            ("summary", .string(summary)),
            ("obstacle", .string(obstacle?.description)),
            ("threads", .strings(threads)),
            ("extent", extent.json),
            ("endedBy", .string(limit?.rawValue)),
            ("judging", .strings(judging.sorted().map { "\($0)" })),
            ("explored", .int(explored)),
            ("redundant", .int(redundant)),
            ("failing", .int(failing)),
            ("findings", .array(findings.map { $0.json(threads: threads) })),
            ("remarks", .array(remarks.map { $0.json(threads: threads) })),
            ("outcomes", .array(allOutcomes.map(\.json))),
            ("unreached", .strings(unreached.map(\.outcome))),
            ("weakOrderings", .bool(hasWeakOrderings)),
            ("surviving", .string(surviving?.text(threads: threads))),
        ]).text
    }
}

extension Report {
    private var wordOfVerdict: String {
        if obstacle != nil { return "none" }
        if failing > 0 { return "fails" }
        return survives ? "survives" : "noFailure"
    }
}

extension Report.Extent {
    var json: JSONValue {
        switch self {
        case .all: .object([("kind", .string("all")), ("limit", .null)])
        case .atMost(let switches):
            .object([("kind", .string("atMostSwitches")), ("limit", .int(switches))])
        case .first(let count): .object([("kind", .string("first")), ("limit", .int(count))])
        }
    }
}

extension Report.Outcome {
    var json: JSONValue {
        .object([
            ("outcome", .string(outcome)),
            ("count", .int(count)),
            ("declared", .string(expected?.verdict.rawValue)),
            ("meaning", .string(expected?.meaning)),
        ])
    }
}
