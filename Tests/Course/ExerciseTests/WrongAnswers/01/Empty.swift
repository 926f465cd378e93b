// Rejected: R01 no schedule
// Nothing is written.

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = ""

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = ""
}
