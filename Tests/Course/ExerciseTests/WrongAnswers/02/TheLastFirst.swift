// Rejected: E02.1 out of order
// Each new handler calls the earlier ones, but only after it has been called itself.

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>

    /// Called with the value.
    private var f_then: ((Value) -> Void)?
    /// Called with the error.
    private var f_error: ((any Error) -> Void)?
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
        f_then?(value)
    }

    private func fail(_ error: any Error) {
        result = .failure(error)
        f_error?(error)
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
                let (earlier, earlierError) = (f_then, f_error)
                f_then = { value in
                    handler(value)
                    earlier?(value)
                }
                f_error = { error in
                    reject(error)
                    earlierError?(error)
                }
            case .success(let value): handler(value)
            case .failure(let error): reject(error)
            }
        }
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        switch result {
        case nil:
            let earlier = f_error
            f_error = { error in
                function(error)
                earlier?(error)
            }
        case .success: break
        case .failure(let error): function(error)
        }
    }
}
