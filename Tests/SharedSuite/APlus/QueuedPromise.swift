import Dispatch
import PromiseOperators

/// A promise that can replace an error by a value, or by the outcome of another promise. The
/// specification calls this an `onRejected` handler of `then`.
protocol RecoveringPromise: FlatteningPromise {
    func recovering(_ function: @escaping (any Error) throws -> Int) -> Self
    func flatRecovering(_ function: @escaping (any Error) throws -> Self) -> Self
}

/// Stage 3 in normal use: its handlers run on a queue. (Elsewhere the suite runs them as early as
/// possible, which exposes races.)
final class QueuedPromise: RecoveringPromise {
    /// The queue for all work of the cases, one piece at a time.
    static let queue = DispatchQueue(label: "Promises/A+")

    private let promise: AWPromise<Int>

    private init(_ promise: AWPromise<Int>) {
        self.promise = promise
    }

    static func working(_ work: (@escaping Resolve, @escaping Reject) -> Void) -> QueuedPromise {
        QueuedPromise(AWPromise<Int> { resolve, reject in work(resolve, reject) })
    }

    func mapping(_ function: @escaping (Int) throws -> Int) -> QueuedPromise {
        nonisolated(unsafe) let function = function
        return QueuedPromise(promise.then(on: Self.queue) { try function($0) })
    }

    func flatMapping(_ function: @escaping (Int) throws -> QueuedPromise) -> QueuedPromise {
        nonisolated(unsafe) let function = function
        return QueuedPromise(promise.then(on: Self.queue) { try function($0).promise })
    }

    func ending(_ function: @escaping Reject) {
        nonisolated(unsafe) let function = function
        promise.error(on: Self.queue) { function($0) }
    }

    func recovering(_ function: @escaping (any Error) throws -> Int) -> QueuedPromise {
        nonisolated(unsafe) let function = function
        return QueuedPromise(promise.recover(on: Self.queue) { try function($0) })
    }

    func flatRecovering(
        _ function: @escaping (any Error) throws -> QueuedPromise
    ) -> QueuedPromise {
        nonisolated(unsafe) let function = function
        return QueuedPromise(promise.recover(on: Self.queue) { try function($0).promise })
    }

    var outcome: Result<Int, any Error>? { promise.result }

    var fields: [(title: String, value: String)] { promise.fields }
}
