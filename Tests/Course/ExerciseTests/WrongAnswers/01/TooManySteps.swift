// Rejected: R01 no schedule
// The subscriber has only two steps, not four.

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "SSSSR"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FS5F"
}
