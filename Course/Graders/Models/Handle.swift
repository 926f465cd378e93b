/// A promise of an answer, with values of any type. An adapter makes the answer's class conform.
public protocol Handle<Value>: AnyObject {
    associatedtype Value

    var settled: Result<Value, any Error>? { get }
    func chaining<Next>(_ function: @escaping (Value) throws -> Next) -> any Handle<Next>
    func catching(_ function: @escaping (any Error) -> Void)
    /// The `then` of exercise 4, whose function returns a promise.
    func flattening<Next>(
        _ function: @escaping (Value) throws -> any Handle<Next>
    ) -> any Handle<Next>
    /// The stored properties, for the tables.
    var columns: [(title: String, value: String)] { get }
}

extension Handle {
    public func flattening<Next>(
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
