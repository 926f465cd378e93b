// The subscriber checks the state; the resolver runs to its end; the subscriber acts on its check.
// The first thread passes the guard; the second takes the list, and has not emptied it yet.

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "SR5S"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FS5F"
}
