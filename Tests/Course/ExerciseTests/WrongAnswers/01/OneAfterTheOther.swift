// Rejected: R01 does not fail
// One thread runs after the other: without a context switch there is no race.

public enum Scheduler {
    /// Hazard R01: S is the subscriber, R the resolver.
    public static let losesAHandler = "SSR6"

    /// Hazard R02: F is the first thread, S the second.
    public static let deliversTwice = "FS5F"
}
