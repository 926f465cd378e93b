import Dispatch
import Foundation

extension AWPromise {
    /// Blocks the calling thread until the promise is settled, and returns its
    /// value or throws its error.
    ///
    /// On the main queue, on a ``SerialQueue`` and on an operation queue that
    /// runs one operation at a time, it throws
    /// ``OperatorError/wouldWaitForItself`` if the promise is pending: the
    /// handlers that settle the promise may be behind it in that queue. Other
    /// serial queues cannot be recognized; mark them with
    /// `SerialQueue(queue)`. Do not wait in a handler of an
    /// ``ImmediateDispatcher`` either: it may block the thread that has to
    /// settle the promise.
    ///
    /// (Google's `await` and Bolts' `waitUntilFinished` block in these cases.)
    @available(*, noasync, message: "write `try await promise.value`")
    public func wait() throws -> Value {
        try wait(until: .distantFuture)
    }

    /// Blocks the calling thread as ``wait()`` does, but throws
    /// ``OperatorError/timedOut`` if that takes longer than `limit`.
    @available(*, noasync, message: "write `try await promise.value`")
    public func wait(atMost limit: Duration) throws -> Value {
        try wait(until: .now() + limit.dispatchInterval)
    }

    private func wait(until deadline: DispatchTime) throws -> Value {
        if let result { return try result.get() }
        if SerialQueue.isCurrent { throw OperatorError.wouldWaitForItself }
        let isSettled = DispatchSemaphore(value: 0)
        let observation = observe(on: ImmediateDispatcher()) { _ in
            isSettled.signal()
        }
        _ = isSettled.wait(timeout: deadline)
        observation.withdraw()
        guard let result else { throw OperatorError.timedOut }
        return try result.get()
    }
}

/// A serial queue that ``AWPromise/wait()`` recognizes and refuses to block. (A
/// `DispatchQueue` does not tell whether it is serial or current.)
public struct SerialQueue: Dispatcher {
    private static let mark = DispatchSpecificKey<Bool>()

    private let queue: DispatchQueue

    public init(label: String, qos: DispatchQoS = .unspecified) {
        self.init(DispatchQueue(label: label, qos: qos))
    }

    /// Marks a serial queue, permanently and for all work sent to it.
    public init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: Self.mark, value: true)
    }

    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        queue.dispatch(work)
    }

    private static let markedMain = SerialQueue(.main)

    static var isCurrent: Bool {
        _ = markedMain
        let operations = OperationQueue.current?.maxConcurrentOperationCount
        return operations == 1 || DispatchQueue.getSpecific(key: mark) == true
    }
}

extension OperationQueue: Dispatcher {
    /// Adds `work` as an operation. A queue that runs one operation at a time
    /// keeps the order. Cancelling its operations drops `work`, and the next
    /// promise stays pending.
    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        addOperation(work)
    }
}
