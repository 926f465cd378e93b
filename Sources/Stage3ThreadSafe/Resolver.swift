/// The right, and the duty, to settle a promise.
///
/// The first call of `fulfill` or `reject` settles it and all later calls, on
/// whichever thread, are ignored. A resolver that is freed without having
/// settled its promise rejects it with ``PromiseError/abandoned``: nobody else
/// could do it any more, and whoever waits should learn of that.
public final class Resolver<Value: Sendable>: Sendable {
    private let promise: AWPromise<Value>

    init(_ promise: AWPromise<Value>) {
        self.promise = promise
    }

    deinit {
        promise.settle(.failure(PromiseError.abandoned))
    }

    /// Fulfils the promise. Immediate handlers run inside this call.
    public func fulfill(_ value: Value) {
        promise.settle(.success(value))
    }

    /// Rejects the promise. Immediate handlers run inside this call.
    public func reject(_ error: any Error) {
        promise.settle(.failure(error))
    }
}
