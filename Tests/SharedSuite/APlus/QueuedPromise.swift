import Dispatch
import PromiseOperators

/// A promise that can put a value, or the outcome of another promise, in the place of an error:
/// what the specification calls a handler for rejections that is passed to `then`.
protocol RecoveringPromise: FlatteningPromise {
    func recovering(_ function: @escaping (any Error) throws -> Int) -> Self
    func flatRecovering(_ function: @escaping (any Error) throws -> Self) -> Self
}

/// Stage 3 as it is meant to be used: its handlers run on a queue. (Elsewhere the suite has them
/// run as early as they can, which is when races show.)
final class QueuedPromise: RecoveringPromise {
    /// Where everything happens that the cases of Promises/A+ do, one thing at a time.
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
