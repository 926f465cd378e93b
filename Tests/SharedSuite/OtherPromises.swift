import RaceLab

// The catalogue, for promises that are no part of it: a student's, or your own.

extension Hazard {
    /// Plays a hazard of one thread on any type of promise, then and there: whoever calls it
    /// decides on which thread. `nil` if it is none, or needs more than the type has.
    public func play<P: PromiseUnderTest>(onType promise: P.Type) -> Verdict? {
        switch self {
        case let hazard as any OneThreadHazard:
            return verdict { try hazard.play(promise) }
        case let hazard as any FlatteningHazard:
            guard let flattening = promise as? any FlatteningPromise.Type else { return nil }
            return verdict { try hazard.play(flattening) }
        default:
            return nil
        }
    }

    /// Finds out how any type of promise fares. A hazard that needs more than the type has, or that
    /// is about Stage 3's own operators, cannot be expressed.
    public func run<P: PromiseUnderTest>(onType promise: P.Type) -> Verdict {
        switch self {
        case let hazard as any OneThreadHazard:
            return verdictOfOneThread { try hazard.play(promise) }
        case let hazard as any FlatteningHazard:
            guard let flattening = promise as? any FlatteningPromise.Type else {
                return .cannotExpress("its `then` yields a promise of a promise")
            }
            return verdictOfOneThread { try hazard.play(flattening) }
        case is any OperatorRace:
            return .cannotExpress("it has no such operator")
        case let race as any Race:
            return race.verdict([explore(options: race.options, race.scenario(onType: promise))])
        default:
            return .cannotExpress("\(id) is tried on the stages and designs only")
        }
    }
}

extension Race {
    /// The scenario, for any type of promise.
    public func scenario<P: PromiseUnderTest>(onType promise: P.Type) -> (Scenario) -> Void {
        { describe($0, promise) }
    }
}

/// Lets a type of promise show its stored properties in tables without naming them: locks and
/// queues are left out, of lists only the length is told, of closures whether they are there. If all
/// of it is behind a `Mutex`, where nobody can look, there is the result still.
public func storedFields(
    of object: AnyObject, _ result: Result<Int, any Error>?
) -> [(title: String, value: String)] {
    let fields = Mirror(reflecting: object).children.compactMap {
        child -> (title: String, value: String)? in
        guard let title = child.label, let value = fieldText(child.value) else { return nil }
        return (title, value)
    }
    return fields.isEmpty ? [("result", describe(result))] : fields
}

private func fieldText(_ value: Any) -> String? {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional:
        guard let wrapped = mirror.children.first?.value else { return "nil" }
        return isFunction(wrapped) ? "set" : fieldText(wrapped)
    case .enum: return "\(value)"
    case .collection, .set, .dictionary: return "\(mirror.children.count)"
    case nil where value is Bool || value is Int || value is String: return "\(value)"
    default: return nil
    }
}

private func isFunction(_ value: Any) -> Bool {
    "\(type(of: value))".contains("->")
}
