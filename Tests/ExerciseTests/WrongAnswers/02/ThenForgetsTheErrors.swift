// Rejected: E02.1 lost
// `error` keeps who was there before, `then` keeps the other `then`s, but not who called `error`.

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>

    /// What to do with the value, once there is one.
    private var f_then: [(Value) -> Void] = []
    /// What to do with the error, if there is one.
    private var f_error: ((any Error) -> Void)?
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
                f_then.append(handler)
                f_error = reject
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
                earlier?(error)
                function(error)
            }
        case .success: break
        case .failure(let error): function(error)
        }
    }
}
