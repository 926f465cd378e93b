@_exported import Stage3ThreadSafe

/// The errors of the operators.
public enum OperatorError: Error {
    /// ``AWPromise/race(_:)`` or ``AWPromise/any(_:)`` of an empty array.
    case noPromises
    /// ``AWPromise/any(_:)``: each promise was rejected. These are the errors,
    /// in the order of the promises.
    case allRejected([any Error])
    /// ``AWPromise/timeout(after:clock:)`` or ``AWPromise/wait(atMost:)``: the
    /// promise was not settled in time.
    case timedOut
    /// ``AWPromise/validate(on:_:)``: the value was not accepted.
    case invalidValue
    /// ``AWPromise/wrap(_:)-(_)``: the completion handler received neither a
    /// value nor an error.
    case neitherValueNorError
    /// ``AWPromise/wait()`` was called on a queue that it must not block.
    case wouldWaitForItself
}
