/// A promise of an answer, with values of any type. An adapter overrides its members; Swift has no
/// other way to pass a generic class, with its generic functions, to code that does not know it.
open class Handle<Value> {
    public init() {}

    open var object: AnyObject { fatalError("overridden") }
    open var result: Result<Value, any Error>? { fatalError("overridden") }

    open func then<Next>(_ function: @escaping (Value) throws -> Next) -> Handle<Next> {
        fatalError("overridden")
    }

    /// The `then` of exercise 4, whose function returns a promise.
    open func flatten<Next>(
        _ function: @escaping (Value) throws -> Handle<Next>
    ) -> Handle<Next> {
        fatalError("overridden")
    }

    open func error(_ function: @escaping (any Error) -> Void) {
        fatalError("overridden")
    }

    /// The stored properties, for the tables.
    open var fields: [(title: String, value: String)] { [] }
}

/// Does not keep its object alive.
struct Weak {
    weak var object: AnyObject?
}

/// A promise, and the functions that settle it.
public struct Pending<Value> {
    public typealias Block = (@escaping (Value) -> Void, @escaping (any Error) -> Void) -> Void

    let promise: Handle<Value>
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
