/// The right, and the duty, to settle a promise.
///
/// The first call of `fulfill`, `reject` or `settle` settles it and all later
/// calls, on any thread, change nothing. A resolver that is freed without
/// having settled its promise rejects it with ``PromiseError/abandoned``:
/// nobody else could do it any more, and whoever waits should learn of that.
///
/// Bolts has two sets of functions here: `set…` ends the program when it is
/// called a second time, `trySet…` says `false`. `fulfill` and `reject` are in
/// between, as in PromiseKit: a second call is a remark in ``Diagnostics``, not
/// a crash, since two threads may well meet here and neither be at fault.
/// `settle` is for code that reckons with coming second.
public final class Resolver<Value: Sendable>: Sendable {
    let promise: AWPromise<Value>

    init(_ promise: AWPromise<Value>) {
        self.promise = promise
    }

    deinit {
        if promise.settle(.failure(PromiseError.abandoned)) {
            Diagnostics.report(.abandonedPromise(Value.self))
        }
    }

    /// Fulfils the promise. Immediate handlers run inside this call.
    public func fulfill(_ value: Value) {
        if !settle(.success(value)) {
            Diagnostics.report(.settledAgain(Value.self))
        }
    }

    /// Rejects the promise. Immediate handlers run inside this call.
    public func reject(_ error: any Error) {
        if !settle(.failure(error)) {
            Diagnostics.report(.settledAgain(Value.self))
        }
    }

    /// Settles the promise, and says whether it was this call that did. It is
    /// no fault to come second here. Immediate handlers run inside this call.
    @discardableResult
    public func settle(_ outcome: AWPromise<Value>.Outcome) -> Bool {
        promise.settle(outcome)
    }
}
