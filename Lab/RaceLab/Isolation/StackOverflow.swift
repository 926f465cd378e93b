import CRaceLab

/// Makes a stack overflow on the calling thread write `message` to standard error and end the
/// process with status 0 instead of with a signal. For a process that was started to test for a
/// stack overflow; any other bad access still crashes.
package func reportStackOverflow(_ message: String) {
    rl_report_stack_overflow(0, message)
}
