/// What an operator can have to complain of.
public enum OperatorError: Error {
    /// ``AWPromise/validate(on:_:)``: the value was not accepted.
    case invalidValue
    /// ``AWPromise/compactMap(on:_:)``: the function returned `nil`.
    case noValue
    /// ``AWPromise/wrap(_:)-(_)``: a completion handler was called with neither
    /// a value nor an error.
    case neitherValueNorError
    /// ``AWPromise/race(_:)`` or ``AWPromise/any(_:)`` of nothing.
    case noPromises
    /// ``AWPromise/any(_:)``: each promise was rejected, with these errors, in
    /// the order of the promises.
    case allRejected([any Error])
    /// ``AWPromise/timeout(after:clock:)`` or ``AWPromise/wait(atMost:)``: the
    /// time is up.
    case timedOut
    /// ``AWPromise/wait()`` was called where the promise needs to go on.
    case wouldWaitForItself
}
