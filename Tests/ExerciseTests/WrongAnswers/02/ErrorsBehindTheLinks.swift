// Rejected: E02.2 out of order
// The links have a list of their own, and whoever called `error` has to wait for all of them.

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>

    /// What to do with the value, once there is one.
    private var f_then: [(Value) -> Void] = []
    /// What to do with the error, if there is one.
    private var f_error: [(any Error) -> Void] = []
    /// What rejects the next promises.
    private var links: [(any Error) -> Void] = []
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
        for link in links { link(error) }
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
            switch result {
            case nil:
                f_then.append(handler)
                links.append(reject)
            case .success(let value): handler(value)
            case .failure(let error): reject(error)
            }
        }
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        switch result {
        case nil: f_error.append(function)
        case .success: break
        case .failure(let error): function(error)
        }
    }
}
