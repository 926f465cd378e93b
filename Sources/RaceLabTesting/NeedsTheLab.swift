import RaceLab
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test, with the reason, where the lab cannot work: in release builds, and under
    /// ThreadSanitizer.
    ///
    /// ```swift
    /// @Test(.needsTheLab) func withdrawals() { … }
    /// ```
    public static var needsTheLab: Self {
        .enabled(
            if: Exploration.unavailable == nil, Comment(rawValue: Exploration.unavailable ?? ""))
    }
}
