// Rejected: E02.1 wrong value
// The second handler receives the result of the first, as if it were the next link of a chain.

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>

    /// Called with the value.
    private var f_then: [(Value) -> Any?] = []
    /// Called with the error.
    private var f_error: [(any Error) -> Void] = []
    /// The value or the error; `nil` while the promise is pending.
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
        var value = value
        for handler in f_then {
            if let next = handler(value) as? Value { value = next }
        }
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
            let handler = { (value: Value) -> Any? in
                do {
                    let next = try function(value)
                    resolve(next)
                    return next
                } catch {
                    reject(error)
                    return nil
                }
            }
            switch result {
            case nil:
                f_then.append(handler)
                f_error.append(reject)
            case .success(let value): _ = handler(value)
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
