// The subscriber looks; the resolver does all it has to do; the subscriber acts on what it saw.
// The first thread passes the guard; the second takes the list, and has not emptied it yet.

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "SR5S"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FS5F"
}
