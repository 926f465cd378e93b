// Rejected: R01 does not fail
// The subscriber appends before the resolver reads the list.

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "SRRRSR"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FS5F"
}
