// No lock: one atomic word is either pending, with the last waiting handler (which references the
// one before it), or settled, with the outcome. A thread whose exchange fails has received the
// current word, and tries again.

import Synchronization

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    /// A waiting handler, with a reference to the one before it.
    private final class Node {
        let handler: Handler
        var previous: UInt = 0

        init(_ handler: @escaping Handler) {
            self.handler = handler
        }
    }

    private final class Settled {
        let outcome: Outcome

        init(_ outcome: Outcome) {
            self.outcome = outcome
        }
    }

    /// The address of the last waiting handler, or 0; if it is odd, that of the outcome.
    private let head = Atomic<UInt>(0)

    private static func object<Object: AnyObject>(_ word: UInt) -> Unmanaged<Object> {
        Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: word & ~1)!)
    }

    private static func settled(_ word: UInt) -> Outcome? {
        guard word & 1 == 1 else { return nil }
        let settled: Unmanaged<Settled> = object(word)
        return settled.takeUnretainedValue().outcome
    }

    public var result: Outcome? { AWPromise.settled(head.load(ordering: .acquiring)) }

    /// Returns all handlers, in the order of registration.
    private static func handlers(until last: UInt) -> [Handler] {
        var (handlers, word): ([Handler], UInt) = ([], last)
        while word != 0 {
            let taken: Unmanaged<Node> = object(word)
            let node = taken.takeRetainedValue()
            handlers.append(node.handler)
            word = node.previous
        }
        return handlers.reversed()
    }

    deinit {
        let last = head.load(ordering: .acquiring)
        if last & 1 == 1 {
            let settled: Unmanaged<Settled> = AWPromise.object(last)
            settled.release()
        } else {
            _ = AWPromise.handlers(until: last)
        }
    }

    public init(
        block: (
            _ resolve: @escaping (Value) -> Void,
            _ reject: @escaping (any Error) -> Void
        ) -> Void
    ) {
        block(
            { value in self.settle(.success(value)) },
            { error in self.settle(.failure(error)) }
        )
    }

    private init() {}

    private func settle(_ outcome: Outcome) {
        let box = Unmanaged.passRetained(Settled(outcome))
        let new = UInt(bitPattern: box.toOpaque()) | 1
        var old = head.load(ordering: .acquiring)
        while true {
            if old & 1 == 1 { return box.release() }
            let (isDone, now) = head.compareExchange(
                expected: old, desired: new, ordering: .acquiringAndReleasing)
            if isDone { break }
            old = now
        }
        for handler in AWPromise.handlers(until: old) { handler(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        let node = Unmanaged.passRetained(Node(handler))
        let new = UInt(bitPattern: node.toOpaque())
        var old = head.load(ordering: .acquiring)
        while true {
            if let outcome = AWPromise.settled(old) {
                node.release()
                return handler(outcome)
            }
            node.takeUnretainedValue().previous = old
            let (isDone, now) = head.compareExchange(
                expected: old, desired: new, ordering: .acquiringAndReleasing)
            if isDone { return }
            old = now
        }
    }

    @discardableResult
    public func then<Next>(
        _ function: @escaping (Value) throws -> Next
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe { outcome in
            next.settle(Result { try function(outcome.get()) })
        }
        return next
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        observe { outcome in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}
