extension Resolver {
    /// Observes `source`, and settles `promise`, the promise of this resolver,
    /// with the outcome that `decide` returns. If `decide` returns `nil`,
    /// the promise stays pending.
    ///
    /// `decide` runs at most once, on the thread that calls the handlers of
    /// `source`, or inside this call if `source` is settled. One resolver can
    /// follow several promises: the first decision counts. If none of them
    /// decides and nothing else holds the resolver, the promise is abandoned.
    ///
    /// However `promise` is settled, the observation is withdrawn:
    /// nothing remains on a source that stays pending for long. (In PromiseKit,
    /// 100,000 races against one such promise leave 100,000 handlers on it.)
    public func follow<Source>(
        _ source: AWPromise<Source>, until promise: AWPromise<Value>,
        _ decide:
            @escaping @Sendable (AWPromise<Source>.Outcome)
            -> AWPromise<Value>.Outcome?
    ) {
        if let outcome = source.result {
            if let decision = decide(outcome) { settle(decision) }
            return
        }
        let here = ImmediateDispatcher()
        let observation = source.observe(on: here) { outcome in
            guard let decision = decide(outcome) else { return }
            Nesting.run { self.settle(decision) }
        }
        // An observation does not hold its source, so this makes no cycle. A
        // `decide` that holds its source does, until the source settles.
        promise.observe(on: here) { _ in observation.withdraw() }
    }

    /// Observes `source`, and settles `promise`, the promise of this resolver,
    /// with the outcome of `source`.
    public func follow(
        _ source: AWPromise<Value>, until promise: AWPromise<Value>
    ) {
        follow(source, until: promise) { $0 }
    }
}
