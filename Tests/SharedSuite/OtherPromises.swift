import RaceLab

// The catalogue for other promises: a student's, or your own.

extension Hazard {
    /// Runs a hazard of one thread on any type of promise, on the calling thread. `nil` if the
    /// hazard needs several threads, or more than the type has.
    public func runOnThisThread<P: PromiseUnderTest>(onType promise: P.Type) -> Verdict? {
        oneThread(promise).map(verdict)
    }

    /// Runs the hazard on any type of promise. A hazard that needs more than the type has, or that
    /// is about Stage 3's own operators, cannot be expressed.
    public func run<P: PromiseUnderTest>(onType promise: P.Type) -> Verdict {
        if let run = oneThread(promise) { return verdictOfOneThread(run) }
        switch self {
        case is any FlatteningHazard: return .cannotExpress(withoutFlattening)
        case is any OperatorRace: return .cannotExpress("it has no such operator")
        case let race as any Race:
            return race.verdict([explore(options: race.options, race.scenario(onType: promise))])
        default: return .cannotExpress("\(id) runs on the subjects of the catalogue only")
        }
    }

    /// The function that runs a hazard of one thread on a type of promise.
    private func oneThread<P: PromiseUnderTest>(_ promise: P.Type) -> (() throws -> String)? {
        switch self {
        case let hazard as any OneThreadHazard: { try hazard.run(promise) }
        case let hazard as any FlatteningHazard:
            (promise as? any FlatteningPromise.Type).map { type in { try hazard.run(type) } }
        default: nil
        }
    }
}

extension Race {
    /// The scenario, for any type of promise.
    public func scenario<P: PromiseUnderTest>(onType promise: P.Type) -> (Scenario) -> Void {
        { setUp($0, promise) }
    }
}

/// The stored properties of a promise, as columns of a table. Leaves out locks and queues, and shows
/// only the length of a list and the presence of a closure. If a `Mutex` hides all of them, shows the
/// result.
public func storedFields<Value>(
    of object: AnyObject, _ result: Result<Value, any Error>?
) -> [(title: String, value: String)] {
    let fields = storedFields(of: object)
    return fields.isEmpty ? [("result", describe(result))] : fields
}

/// The stored properties of any value, as columns of a table, without those that a lock hides.
public func storedFields(of object: Any) -> [(title: String, value: String)] {
    Mirror(reflecting: object).children.compactMap { child in
        guard let title = child.label, let value = fieldText(child.value) else { return nil }
        return (title, value)
    }
}

private func fieldText(_ value: Any) -> String? {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional:
        guard let wrapped = mirror.children.first?.value else { return "nil" }
        return isFunction(wrapped) ? "set" : fieldText(wrapped) ?? "set"
    case .enum: return "\(value)"
    case .collection, .set, .dictionary: return "\(mirror.children.count)"
    case nil where value is Bool || value is Int || value is String: return "\(value)"
    default: return nil
    }
}

private func isFunction(_ value: Any) -> Bool {
    "\(type(of: value))".contains("->")
}
