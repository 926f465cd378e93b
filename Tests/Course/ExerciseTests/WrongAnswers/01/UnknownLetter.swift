// Rejected: R01 no schedule
// No thread has a name that begins with T.

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "STS"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FS5F"
}
