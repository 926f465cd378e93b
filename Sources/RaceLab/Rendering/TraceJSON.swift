extension Trace {
    /// The interleaving for machines. The fields are described in Sources/RaceLab/JSON.md; they
    /// always come in the same order, and the same interleaving is always the same bytes.
    ///
    /// `version` grows when a field changes its meaning or disappears, not when one is added.
    public var json: String {
        JSONValue.object([
            ("version", .int(1)),
            ("kind", .string("trace")),
            ("threads", .strings(threads)),
            ("schedule", .string(scheduleText)),
            ("columns", .strings(columns)),
            ("columnOwners", .array(columnOwners.map { .string($0) })),
            (
                "owners",
                .array(
                    owners.map {
                        .object([("type", .string($0.type)), ("names", .strings($0.names))])
                    })
            ),
            ("initial", .strings(initial)),
            ("steps", .array(steps.enumerated().map { json(of: $1, number: $0 + 1) })),
            ("waiting", .array(waiting.map(json))),
            ("findings", .array(findings.map { $0.json(threads: threads) })),
        ]).text
    }

    private func json(of step: Step, number: Int) -> JSONValue {
        .object([
            ("step", .int(number)),
            ("thread", .string(threads[step.thread])),
            ("kind", .string(step.kind.rawValue)),
            ("owner", .string(step.owner)),
            ("failed", .bool(step.failed)),
            ("before", .string(step.before.map { threads[$0] })),
            ("locksHeld", .int(step.locksHeld)),
            ("file", .string(step.site?.packagePath)),
            ("line", .int(step.site?.line)),
            ("text", .string(step.text)),
            ("states", step.states.map(JSONValue.strings) ?? .null),
            ("mark", .string(step.mark)),
        ])
    }

    private func json(of waiting: Waiting) -> JSONValue {
        var cause = "other"
        var holder: String?
        var step: Int?
        switch waiting.cause {
        case .lock(let index, let taken):
            cause = "lock"
            holder = index.map { threads[$0] }
            step = taken.map { $0 + 1 }
        case .change: cause = "change"
        case .wakeUp: cause = "wakeUp"
        case .semaphore: cause = "semaphore"
        case .end(let index):
            cause = "end"
            holder = threads[index]
        case .turn: cause = "turn"
        case .completion: cause = "completion"
        case .resumption: cause = "resumption"
        case .actor: cause = "actor"
        case .work: cause = "work"
        case .other: break
        }
        return .object([
            ("thread", .string(threads[waiting.thread])),
            ("for", .string(cause)),
            ("owner", .string(waiting.owner)),
            ("file", .string(waiting.site?.packagePath)),
            ("line", .int(waiting.site?.line)),
            ("text", .string(waiting.text)),
            ("holder", .string(holder)),
            ("takenInStep", .int(step)),
            ("takenFile", .string(waiting.taken?.packagePath)),
            ("takenLine", .int(waiting.taken?.line)),
        ])
    }
}

extension Finding {
    func json(threads: [String]) -> JSONValue {
        .object([
            ("kind", .string(String(describing: kind))),
            ("reason", .string(reason)),
            ("count", .int(count)),
            ("switches", .int(schedule.switches)),
            ("schedule", .string(schedule.text(threads: threads))),
        ])
    }
}
