import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The example of the article: two requests in sequence, and the messages that they print.
struct Requests: Sendable {
    let first: URLRequest
    let second: URLRequest
    /// A serial queue for everything except the network itself.
    let queue: DispatchQueue
    let say: @Sendable (String) -> Void

    /// A session that calls its completion handlers on the queue. Like the article, the example
    /// makes a session for each request.
    func session() -> URLSession {
        let operations = OperationQueue()
        operations.underlyingQueue = queue
        operations.maxConcurrentOperationCount = 1
        return URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: operations)
    }
}

/// The server responded with an unexpected status.
struct UnexpectedStatus: Error, Equatable {
    let status: Int
}

/// The outcome of a request. The example itself treats a status of 500 as a failure, because
/// `URLSession` does not.
func outcome(
    _ data: Data?, _ response: URLResponse?, _ error: (any Error)?
) -> Result<Data, any Error> {
    if let error { return .failure(error) }
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else { return .failure(UnexpectedStatus(status: status)) }
    return .success(data ?? Data())
}

/// The description of an error, which is the same on every platform.
func words(_ error: any Error) -> String {
    switch error {
    case let error as UnexpectedStatus: "the server says \(error.status)"
    case let error as URLError where error.code == .cannotConnectToHost: "connection refused"
    case let error as URLError where error.code == .timedOut: "timed out"
    default: "\(error)"
    }
}
