extension Exploration.Trace {
    /// The interleaving for other tools, as JSON with sorted keys.
    /// `Lab/RaceLab/RaceLab.docc/JSON.md` documents the fields. The same interleaving always
    /// gives the same bytes.
    public var json: String {
        let steps = steps.enumerated().map { $1.json(number: $0 + 1, threads: threads) }
        let object: JSONObject = [
            "version": versionOfJSON,
            "kind": "trace",
            "threads": threads,
            "schedule": scheduleText,
            "columns": columns,
            "columnOwners": columnOwners,
            "owners": owners,
            "initial": initial,
            "steps": steps,
            "waiting": waiting.map { $0.json(threads: threads) },
            "findings": findings.map { $0.json(threads: threads) },
        ]
        return object.document
    }
}

extension Exploration.Trace.Step {
    fileprivate func json(number: Int, threads: [String]) -> JSONObject {
        [
            "step": number,
            "thread": threads[thread],
            "kind": kind.rawValue,
            "owner": owner,
            "failed": failed,
            "before": before.map { threads[$0] },
            "timedOut": timedOut,
            "spurious": spurious,
            "locksHeld": locksHeld,
            "file": site?.packagePath,
            "line": site?.line,
            "text": text,
            "states": states,
            "mark": mark,
            "oldValue": old?.value,
            "missedFile": old?.missed?.packagePath,
            "missedLine": old?.missed?.line,
        ]
    }
}

extension Exploration.Trace.Waiting {
    fileprivate func json(threads: [String]) -> JSONObject {
        var holder: Int?
        var takenInStep: Int?
        switch cause {
        case .lock(let thread, let step): (holder, takenInStep) = (thread, step)
        case .end(let thread): holder = thread
        case .actor(let thread): holder = thread
        default: break
        }
        return [
            "thread": threads[thread],
            // The name of the case, without its associated values.
            "for": String("\(cause)".prefix { $0 != "(" }),
            "owner": owner,
            "queue": queue,
            "file": site?.packagePath,
            "line": site?.line,
            "text": text,
            "holder": holder.map { threads[$0] },
            "takenInStep": takenInStep.map { $0 + 1 },
            "takenFile": taken?.packagePath,
            "takenLine": taken?.line,
        ]
    }
}
