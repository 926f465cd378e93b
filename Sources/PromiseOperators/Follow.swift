extension Resolver {
    /// Watches a promise, and settles this resolver's own with what `decide`
    /// makes of the outcome; `nil` leaves it open for somebody else to do so.
    ///
    /// `decide` runs once at most, on the thread that settles `promise`, or at
    /// once if it is settled. Several promises can be followed, and whichever
    /// decides first wins: everything that waits for more than one promise is
    /// made from this. If none of them decides, and nobody keeps the resolver,
    /// its promise is abandoned.
    ///
    /// As soon as this resolver's promise is settled, by whomever, it stops
    /// following: nothing is left behind on a promise that goes on living. In
    /// PromiseKit 100,000 races against one such promise leave 100,000 handlers
    /// with it.
    public func follow<Followed>(
        _ promise: AWPromise<Followed>,
        _ decide:
            @escaping @Sendable (AWPromise<Followed>.Outcome)
            -> AWPromise<Value>.Outcome?
    ) {
        let ticket = promise.observe { outcome, agenda in
            guard let decision = decide(outcome) else { return }
            self.promise.settle(decision, &agenda)
        }
        // Weak, for the two would otherwise keep each other alive for as long
        // as nobody settles either.
        self.promise.afterwards { [weak promise] in
            promise?.withdraw(ticket)
        }
    }

    /// Settles this resolver's promise as `promise` ends, unless somebody else
    /// is first.
    public func follow(_ promise: AWPromise<Value>) {
        follow(promise) { $0 }
    }
}
