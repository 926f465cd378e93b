import RaceLab
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test, with the reason, where the lab cannot work: under ThreadSanitizer, and in
    /// release builds.
    public static var needsTheLab: Self {
        .enabled(
            if: Exploration.unavailable == nil, Comment(rawValue: Exploration.unavailable ?? ""))
    }
}
