// Rejected: R02 does not fail
// The second thread reaches the guard after the first has settled.

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "SR5S"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FFS"
}
