extension Exploration {
    /// The exploration for other tools, as JSON with sorted keys.
    /// `Lab/RaceLab/RaceLab.docc/JSON.md` documents the fields. The same exploration always
    /// gives the same bytes.
    public var json: String { ExplorationJSON(self).text }
}

private struct ExplorationJSON: JSONDocument {
    struct Coverage: Encodable {
        let kind: String
        var limit: Int?

        init(_ coverage: Exploration.Coverage) {
            switch coverage {
            case .all: kind = "all"
            case .atMost(let preemptions):
                kind = "atMostPreemptions"
                limit = preemptions
            case .first(let count):
                kind = "first"
                limit = count
            case .sampled(let count):
                kind = "sampled"
                limit = count
            }
        }
    }

    struct Sampling: Encodable {
        let method: String
        var depth: Int?
        let seed: UInt64
        let words: [String]

        init?(_ exploration: Exploration) {
            guard case .sampled(let method, _, let seed) = exploration.options.strategy else {
                return nil
            }
            switch method {
            case .randomWalk: self.method = "randomWalk"
            case .pct(let depth):
                self.method = "pct"
                self.depth = depth
            case .partialOrder: self.method = "partialOrder"
            case .selectivelyUniform: self.method = "selectivelyUniform"
            }
            self.seed = seed
            words = exploration.samplingSentences
        }
    }

    struct Outcome: Encodable {
        let outcome: String
        let count: Int
        let declared: String?
        let meaning: String?

        init(_ outcome: Exploration.Outcome) {
            self.outcome = outcome.outcome
            count = outcome.count
            declared = outcome.expected?.verdict.rawValue
            meaning = outcome.expected?.meaning
        }
    }

    let version = versionOfJSON
    let kind = "exploration"
    let verdict: String
    let summary: String
    let inconclusive: String?
    let threads: [String]
    let coverage: Coverage
    let sampling: Sampling?
    let endedBy: String?
    let covered: [String]
    let failingKinds: [String]
    let explored: Int
    let redundant: Int
    let failing: Int
    let findings: [FindingJSON]
    let otherFindings: [FindingJSON]
    let outcomes: [Outcome]
    let unreached: [String]
    let weakOrderings: Bool
    let memory: String
    let randomSeed: UInt64?
    let passingSchedule: String?

    init(_ exploration: Exploration) {
        let threads = exploration.threads
        verdict = exploration.wordOfVerdict
        summary = exploration.summary
        inconclusive = exploration.inconclusive?.description
        self.threads = threads
        coverage = Coverage(exploration.coverage)
        sampling = Sampling(exploration)
        endedBy = exploration.limit.map { "\($0)" }
        covered = exploration.coverageSentences
        failingKinds = exploration.options.failingKinds.sorted().map { "\($0)" }
        explored = exploration.explored
        redundant = exploration.redundant
        failing = exploration.failing
        findings = exploration.findings.map { FindingJSON($0, threads: threads) }
        otherFindings = exploration.otherFindings.map { FindingJSON($0, threads: threads) }
        outcomes = exploration.allOutcomes.map(Outcome.init)
        unreached = exploration.unreached.map(\.outcome)
        weakOrderings = exploration.hasWeakOrderings
        memory = exploration.memory.rawValue
        randomSeed = exploration.randomSeed
        passingSchedule = exploration.passingSchedule?.text(threads: threads)
    }
}

extension Exploration {
    fileprivate var wordOfVerdict: String {
        if inconclusive != nil { return "inconclusive" }
        if failing > 0 { return "fails" }
        return survives ? "survives" : "noFailure"
    }
}
