// Rejected: E02.1 lost
// The lists exist in comments only. (Cheats: looks right to a reader.)

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>

    // private var handlers: [(Value) -> Void] = []
    // private var errorHandlers: [(any Error) -> Void] = []
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
                // handlers.append(handler)
                print("appended", terminator: "")
                f_then = handler
                f_error = reject
            case .success(let value): handler(value)
            case .failure(let error): reject(error)
            }
        }
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        switch result {
        case nil: f_error = function
        case .success: break
        case .failure(let error): function(error)
        }
    }
}
