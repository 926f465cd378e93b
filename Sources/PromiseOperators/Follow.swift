extension Resolver {
    /// Observes `source`, and settles `promise`, the promise of this resolver,
    /// with what `decide` makes of the outcome. If `decide` returns `nil`,
    /// the promise stays pending.
    ///
    /// `decide` runs at most once, on the thread that settles `source`, or
    /// inside this call if `source` is settled. One resolver can follow several
    /// promises: the first decision counts. If none of them decides and nothing
    /// else holds the resolver, the promise is abandoned. Every operator that
    /// waits for more than one event is made from this function.
    ///
    /// When `promise` is settled, by whatever, the observation is withdrawn:
    /// nothing remains on a source that stays pending for long. (In PromiseKit,
    /// 100,000 races against one such promise leave 100,000 handlers on it.)
    public func follow<Source>(
        _ source: AWPromise<Source>, until promise: AWPromise<Value>,
        _ decide:
            @escaping @Sendable (AWPromise<Source>.Outcome)
            -> AWPromise<Value>.Outcome?
    ) {
        let here = ImmediateDispatcher()
        let observation = source.observe(on: here) { outcome in
            guard let decision = decide(outcome) else { return }
            Nesting.run { self.settle(decision) }
        }
        // The source holds the promise, through this resolver. An observation
        // holds no promise, so there is no cycle.
        promise.observe(on: here) { _ in observation.withdraw() }
    }

    /// Observes `source`, and settles `promise`, the promise of this resolver,
    /// as `source` is settled.
    public func follow(
        _ source: AWPromise<Value>, until promise: AWPromise<Value>
    ) {
        follow(source, until: promise) { $0 }
    }
}
