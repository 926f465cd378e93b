import RaceLab

/// The process that runs an answer makes the tables of interleavings. Their maximum width depends
/// on the terminal of the process that started it.
public enum TableWidth {
    public static let usual = 100
    /// Set before any answer runs.
    nonisolated(unsafe) public static var now = usual
}
