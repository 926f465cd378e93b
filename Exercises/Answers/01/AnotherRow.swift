// The resolver has read the list for the last time when the subscriber appends.

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "RSR4S"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FS5F"
}
