extension Exploration.Trace {
    /// The interleaving for other tools, as JSON with sorted keys.
    /// `Lab/RaceLab/RaceLab.docc/JSON.md` documents the fields. The same interleaving always
    /// gives the same bytes.
    public var json: String { TraceJSON(self).text }
}

private struct TraceJSON: JSONDocument {
    struct Step: Encodable {
        let step: Int
        let thread: String
        let kind: String
        let owner: String?
        let failed: Bool
        let before: String?
        let timedOut: Bool
        let spurious: Bool
        let locksHeld: Int
        let file: String?
        let line: Int?
        let text: String
        let states: [String]?
        let mark: String?
        let oldValue: Int?
        let missedFile: String?
        let missedLine: Int?

        init(_ step: Exploration.Trace.Step, number: Int, threads: [String]) {
            self.step = number
            thread = threads[step.thread]
            kind = step.kind.rawValue
            owner = step.owner
            failed = step.failed
            before = step.before.map { threads[$0] }
            timedOut = step.timedOut
            spurious = step.spurious
            locksHeld = step.locksHeld
            file = step.site?.packagePath
            line = step.site?.line
            text = step.text
            states = step.states
            mark = step.mark
            oldValue = step.old?.value
            missedFile = step.old?.missed?.packagePath
            missedLine = step.old?.missed?.line
        }
    }

    struct Waiting: Encodable {
        let thread: String
        let cause: String
        let owner: String?
        let file: String?
        let line: Int?
        let text: String
        var holder: String?
        var takenInStep: Int?
        let takenFile: String?
        let takenLine: Int?

        enum CodingKeys: String, CodingKey {
            case thread, owner, file, line, text, holder, takenInStep, takenFile, takenLine
            case cause = "for"
        }

        init(_ waiting: Exploration.Trace.Waiting, threads: [String]) {
            thread = threads[waiting.thread]
            cause = waiting.cause.word
            owner = waiting.owner
            file = waiting.site?.packagePath
            line = waiting.site?.line
            text = waiting.text
            takenFile = waiting.taken?.packagePath
            takenLine = waiting.taken?.line
            switch waiting.cause {
            case .lock(let thread, let step):
                holder = thread.map { threads[$0] }
                takenInStep = step.map { $0 + 1 }
            case .end(let thread): holder = threads[thread]
            case .actor(let thread): holder = thread.map { threads[$0] }
            default: break
            }
        }
    }

    let version = versionOfJSON
    let kind = "trace"
    let threads: [String]
    let schedule: String
    let columns: [String]
    let columnOwners: [String?]
    let owners: [Exploration.Trace.Owners]
    let initial: [String]
    let steps: [Step]
    let waiting: [Waiting]
    let findings: [FindingJSON]

    init(_ trace: Exploration.Trace) {
        let threads = trace.threads
        self.threads = threads
        schedule = trace.scheduleText
        columns = trace.columns
        columnOwners = trace.columnOwners
        owners = trace.owners
        initial = trace.initial
        steps = trace.steps.enumerated().map { Step($1, number: $0 + 1, threads: threads) }
        waiting = trace.waiting.map { Waiting($0, threads: threads) }
        findings = trace.findings.map { FindingJSON($0, threads: threads) }
    }
}

extension Exploration.Trace.Waiting.Cause {
    /// The name of the case, without its associated values.
    fileprivate var word: String { String("\(self)".prefix { $0 != "(" }) }
}
