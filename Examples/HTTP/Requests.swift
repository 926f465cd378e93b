import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The article's own example: two requests, one after the other, and what is said meanwhile.
public struct Requests: Sendable {
    let first: URLRequest
    let second: URLRequest
    /// Where everything happens that is not the network's own business. A serial queue.
    let queue: DispatchQueue
    let say: @Sendable (String) -> Void

    public init(
        first: URLRequest, second: URLRequest, queue: DispatchQueue,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.first = first
        self.second = second
        self.queue = queue
        self.say = say
    }

    /// A session that calls its completion handlers on the queue; the article makes one for each
    /// request, too.
    func session() -> URLSession {
        let operations = OperationQueue()
        operations.underlyingQueue = queue
        operations.maxConcurrentOperationCount = 1
        return URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: operations)
    }
}

/// The server was reached, and did not give what it was asked for.
public struct UnexpectedStatus: Error, Equatable {
    public let status: Int
}

/// What a request comes to. That a status of 500 is a failure is for the code of the example to
/// say: for `URLSession` it is an answer as any other.
func outcome(
    _ data: Data?, _ response: URLResponse?, _ error: (any Error)?
) -> Result<Data, any Error> {
    if let error { return .failure(error) }
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else { return .failure(UnexpectedStatus(status: status)) }
    return .success(data ?? Data())
}

/// An error in words that are the same on every platform.
func words(_ error: any Error) -> String {
    switch error {
    case let error as UnexpectedStatus: "the server says \(error.status)"
    case let error as URLError where error.code == .cannotConnectToHost: "connection refused"
    case let error as URLError where error.code == .timedOut: "timed out"
    default: "\(error)"
    }
}
