import RaceLab

extension Exploration.ReplayError {
    var mismatch: Exploration.ScheduleMismatch? {
        if case .mismatch(let mismatch) = self { mismatch } else { nil }
    }

    var malformed: Exploration.Schedule.Malformed? {
        if case .malformed(let malformed) = self { malformed } else { nil }
    }

    var inconclusive: Exploration.Inconclusive? {
        if case .inconclusive(let reason) = self { reason } else { nil }
    }
}
