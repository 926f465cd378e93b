// Rejected: refused
// A wrapper around the promise of Stage 3.

import Stage3ThreadSafe

public enum BugReport {
    public static let variant = 1
    public static let hazard = "R01"
    public static let schedule = "SRRS"
}
