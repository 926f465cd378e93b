extension Exploration {
    /// The exploration for other tools, as JSON with sorted keys.
    /// `Lab/RaceLab/RaceLab.docc/JSON.md` documents the fields. The same exploration always
    /// gives the same bytes.
    public var json: String {
        let threads = threads
        let failingKinds = options.failingKinds.sorted().map { "\($0)" }
        let object: JSONObject = [
            "version": versionOfJSON,
            "kind": "exploration",
            "verdict": wordOfVerdict,
            "summary": summary,
            "inconclusive": inconclusive?.description,
            "threads": threads,
            "coverage": coverage.json,
            "sampling": samplingJSON,
            "endedBy": limit.map { "\($0)" },
            "covered": coverageSentences,
            "failingKinds": failingKinds,
            "explored": explored,
            "redundant": redundant,
            "failing": failing,
            "findings": findings.map { $0.json(threads: threads) },
            "otherFindings": otherFindings.map { $0.json(threads: threads) },
            "outcomes": allOutcomes.map(\.json),
            "unreached": unreached.map(\.outcome),
            "weakOrderings": hasWeakOrderings,
            "memory": memory.rawValue,
            "randomSeed": randomSeed,
            "passingSchedule": passingSchedule?.text(threads: threads),
        ]
        return object.document
    }

    private var wordOfVerdict: String {
        if inconclusive != nil { return "inconclusive" }
        if failing > 0 { return "fails" }
        return survives ? "survives" : "noFailure"
    }

    private var samplingJSON: JSONObject? {
        guard case .sampled(let method, _, let seed) = options.strategy else { return nil }
        let depth: Int? = if case .pct(let depth) = method { depth } else { nil }
        let word =
            switch method {
            case .randomWalk: "randomWalk"
            case .pct: "pct"
            case .partialOrder: "partialOrder"
            case .selectivelyUniform: "selectivelyUniform"
            }
        return ["method": word, "depth": depth, "seed": seed, "words": samplingSentences]
    }
}

extension Exploration.Coverage {
    fileprivate var json: JSONObject {
        switch self {
        case .all: ["kind": "all"]
        case .atMost(let preemptions): ["kind": "atMostPreemptions", "limit": preemptions]
        case .first(let count): ["kind": "first", "limit": count]
        case .sampled(let count): ["kind": "sampled", "limit": count]
        }
    }
}

extension Exploration.Outcome {
    fileprivate var json: JSONObject {
        [
            "outcome": outcome, "count": count, "declared": expected?.verdict.rawValue,
            "meaning": expected?.meaning,
        ]
    }
}
