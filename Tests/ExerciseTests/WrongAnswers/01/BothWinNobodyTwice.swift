// Rejected: R02 does not fail
// Both get past the guard, but the handler is out of the list before the second looks for it.

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "SR5S"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FS"
}
