/// One of the three promises.
public enum Stage: Int, CaseIterable, Sendable, Codable, CustomStringConvertible {
    case naive = 1
    case handlers = 2
    case threadSafe = 3

    /// The name of its module.
    public var module: String {
        switch self {
        case .naive: "Stage1Naive"
        case .handlers: "Stage2Handlers"
        case .threadSafe: "Stage3ThreadSafe"
        }
    }

    public var description: String { "Stage \(rawValue)" }
}
