import RaceLab
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test, with the reason, where the lab cannot work: under ThreadSanitizer, and in release
    /// builds.
    public static var needsTheLab: Self {
        .enabled(if: unavailable == nil, Comment(rawValue: unavailable ?? ""))
    }

    /// Skips a test whose program ends with its stack exhausted: ThreadSanitizer's own handler for that
    /// waits for ever.
    public static var needsAStackOverflow: Self {
        .enabled(
            if: !(unavailable?.contains("ThreadSanitizer") ?? false),
            "under ThreadSanitizer a program with no stack left does not come to its end")
    }
}
