// Rejected: H17 twice
// Whoever comes late is put onto the list, and then everybody on it is called once more.

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>

    /// What to do with the value, once there is one.
    private var f_then: [(Value) -> Void] = []
    /// What to do with the error, if there is one.
    private var f_error: [(any Error) -> Void] = []
    /// What the promise ended with; `nil` as long as it is pending.
    public private(set) var result: Outcome?

    public init(
        block: (
            _ resolve: @escaping (Value) -> Void,
            _ reject: @escaping (any Error) -> Void
        ) -> Void
    ) {
        block({ value in self.complete(value) }, { error in self.fail(error) })
    }

    private func complete(_ value: Value) {
        result = .success(value)
        for handler in f_then { handler(value) }
    }

    private func fail(_ error: any Error) {
        result = .failure(error)
        for handler in f_error { handler(error) }
    }

    @discardableResult
    public func then<Next>(
        _ function: @escaping (Value) throws -> Next
    ) -> AWPromise<Next> {
        AWPromise<Next> { resolve, reject in
            let handler = { (value: Value) in
                do {
                    resolve(try function(value))
                } catch {
                    reject(error)
                }
            }
            f_then.append(handler)
            f_error.append(reject)
            if case .success(let value) = result { complete(value) }
            if case .failure(let error) = result { fail(error) }
        }
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        f_error.append(function)
        if case .failure(let error) = result { fail(error) }
    }
}
