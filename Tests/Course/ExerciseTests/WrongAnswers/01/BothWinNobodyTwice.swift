// Rejected: R02 does not fail
// Both threads pass the guard, but the first removes the handler before the second reads the list.

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "SR5S"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FS"
}
