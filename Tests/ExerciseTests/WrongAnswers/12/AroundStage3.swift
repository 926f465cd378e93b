// Rejected: refused
// The promise of Stage 3, and a shell around it.

import Stage3ThreadSafe

public enum BugReport {
    public static let variant = 1
    public static let hazard = "R01"
    public static let schedule = "SRRS"
}
