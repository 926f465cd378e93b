import RaceLab

/// The tables of interleavings are made in the process that tries an answer. How wide they may be
/// depends on the terminal of the process that has started it.
public enum TableWidth {
    public static let usual = 100
    /// Set before anything is tried.
    nonisolated(unsafe) public static var now = usual
}
