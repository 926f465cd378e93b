import Dispatch

/// The core of PromiseKit's `Promise` (versions 6 to 8), in the structure of the original.
///
/// Kept: a box that is sealed once, pending with handlers or resolved with a result; a concurrent
/// queue for each box, which readers share and writers use with a barrier; handlers that run on the
/// sealing thread **after** it has left the queue; a registration that checks without a barrier and,
/// if the box is pending, checks again with a barrier; `then` that rejects its own successor.
/// Left out: `Guarantee`, `when`, `race`, `cauterize` and related functions; the warning when a
/// pending promise is freed; the special box of a promise that is created resolved. The queue on
/// which a function is called is a closure here.
/// Described in: *PromiseKit源码分析* (version 6.8.4), the parts on `EmptyBox`, `pipe` and `then`.
/// (Part two of *Bolts、PromiseKit、Promises 源码简析* describes the older version in Objective-C.)
public final class PromiseKitStyle<Value> {
    public typealias Outcome = Result<Value, any Error>
    /// Adds work to a queue. With `nil`, the function runs at once on the current thread.
    public typealias Queue = (_ work: @escaping () -> Void) -> Void

    private let box = Box<Outcome>()

    /// Runs `body` at once and passes it the function that seals the box.
    public init(_ body: (_ seal: @escaping (Outcome) -> Void) -> Void) {
        body(box.seal)
    }

    private init() {}

    public var result: Outcome? {
        if case .resolved(let outcome) = box.inspect() { outcome } else { nil }
    }

    /// Calls `handler` with the outcome. All other operations use this one.
    public func pipe(to handler: @escaping (Outcome) -> Void) {
        guard case .pending = box.inspect() else { return handler(result!) }
        box.inspect { sealant in
            switch sealant {
            case .pending(let handlers): handlers.append(handler)
            case .resolved(let outcome): handler(outcome)
            }
        }
    }

    /// Continues with the promise that `body` returns.
    @discardableResult
    public func then<Next>(
        on queue: Queue? = mainQueue,
        _ body: @escaping (Value) throws -> PromiseKitStyle<Next>
    ) -> PromiseKitStyle<Next> {
        let successor = PromiseKitStyle<Next>()
        handle(on: queue, failing: successor) { value in
            let inner = try body(value)
            guard inner !== successor else { throw PromiseKitStyleError.returnedItself }
            inner.pipe(to: successor.box.seal)
        }
        return successor
    }

    /// Continues with the value that `transform` returns.
    @discardableResult
    public func map<Next>(
        on queue: Queue? = mainQueue, _ transform: @escaping (Value) throws -> Next
    ) -> PromiseKitStyle<Next> {
        let successor = PromiseKitStyle<Next>()
        handle(on: queue, failing: successor) { value in
            successor.box.seal(.success(try transform(value)))
        }
        return successor
    }

    /// Ends the chain.
    public func `catch`(on queue: Queue? = mainQueue, _ body: @escaping (any Error) -> Void) {
        pipe { outcome in
            guard case .failure(let error) = outcome else { return }
            run(on: queue) { body(error) }
        }
    }

    private func handle<Next>(
        on queue: Queue?, failing successor: PromiseKitStyle<Next>,
        _ body: @escaping (Value) throws -> Void
    ) {
        pipe { outcome in
            switch outcome {
            case .failure(let error): successor.box.seal(.failure(error))
            case .success(let value):
                run(on: queue) {
                    do { try body(value) } catch { successor.box.seal(.failure(error)) }
                }
            }
        }
    }
}

public enum PromiseKitStyleError: Error {
    /// A function passed to `then` returned the promise that this `then` had returned.
    case returnedItself
}

/// The default queue of all functions.
public let mainQueue: (@escaping () -> Void) -> Void = { work in
    DispatchQueue.main.async { work() }
}

private func run(
    on queue: ((@escaping () -> Void) -> Void)?, _ work: @escaping () -> Void
) {
    if let queue { queue(work) } else { work() }
}

private enum Sealant<Content> {
    case pending(Handlers<Content>)
    case resolved(Content)
}

private final class Handlers<Content> {
    private(set) var bodies: [(Content) -> Void] = []
    func append(_ body: @escaping (Content) -> Void) { bodies.append(body) }
}

private final class Box<Content> {
    private var sealant = Sealant<Content>.pending(Handlers())
    private let barrier = DispatchQueue(label: "box", attributes: .concurrent)

    func inspect() -> Sealant<Content> {
        barrier.sync { sealant }
    }

    /// Calls `body` behind the barrier while the box is pending, and otherwise outside the queue.
    func inspect(_ body: (Sealant<Content>) -> Void) {
        let seen = barrier.sync(flags: .barrier) {
            if case .pending = sealant { body(sealant) }
            return sealant
        }
        if case .resolved = seen { body(seen) }
    }

    func seal(_ content: Content) {
        let handlers = barrier.sync(flags: .barrier) { () -> Handlers<Content>? in
            guard case .pending(let handlers) = sealant else { return nil }
            sealant = .resolved(content)
            return handlers
        }
        // Handlers run outside the queue, so that they may use this box. But from here on, a
        // thread that registers a handler finds the box resolved, and its handler overtakes these.
        handlers?.bodies.forEach { $0(content) }
    }
}
