/// A promise of an answer, with values of any type. An adapter makes the answer's class conform, so
/// no answer is likely to have members with these names.
public protocol Handle<Value>: AnyObject {
    associatedtype Value

    var gradedResult: Result<Value, any Error>? { get }
    func gradedThen<Next>(_ function: @escaping (Value) throws -> Next) -> any Handle<Next>
    func gradedError(_ function: @escaping (any Error) -> Void)
    /// The `then` of exercise 4, whose function returns a promise.
    func gradedFlatten<Next>(
        _ function: @escaping (Value) throws -> any Handle<Next>
    ) -> any Handle<Next>
    /// The stored properties, for the tables.
    var gradedFields: [(title: String, value: String)] { get }
}

extension Handle {
    public func gradedFlatten<Next>(
        _ function: @escaping (Value) throws -> any Handle<Next>
    ) -> any Handle<Next> {
        fatalError("only the promise of exercise 4 flattens")
    }
}

/// Does not keep its object alive.
struct Weak {
    weak var object: AnyObject?
}

/// A promise, and the functions that settle it.
public struct Pending<Value> {
    public typealias Block = (@escaping (Value) -> Void, @escaping (any Error) -> Void) -> Void

    let promise: any Handle<Value>
    let resolve: (Value) -> Void
    let reject: (any Error) -> Void

    /// - Parameter inside: runs inside the block of `init`.
    init(_ answer: any PromiseAnswer, inside: Block = { _, _ in }) {
        var (resolve, reject): (((Value) -> Void)?, ((any Error) -> Void)?)
        promise = answer.handle {
            (resolve, reject) = ($0, $1)
            inside($0, $1)
        }
        (self.resolve, self.reject) = (resolve!, reject!)
    }
}
