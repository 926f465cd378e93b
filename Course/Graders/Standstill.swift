import RaceLab

/// Notices when time passes while code of a program waits for another thread. In the lab, time
/// passes only when a thread sleeps or a wait times out. So the other thread also waits, even if
/// only for a while.
final class Standstill: @unchecked Sendable {
    private(set) var fault: Fault?

    func during(_ wait: () -> Void) {
        let before = ContinuousClock.now
        wait()
        guard ContinuousClock.now != before else { return }
        fault = Fault(
            "over-synchronized",
            "a thread sleeps, or waits with a time limit, while code that runs in another thread "
                + "waits for it")
    }
}
