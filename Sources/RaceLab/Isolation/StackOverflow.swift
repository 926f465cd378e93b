import CRaceLab

/// From now on a stack overflow on the calling thread writes `message` to standard error and ends
/// the process with status 0, instead of with a signal. For a process that was started to find
/// out whether there is one; any other bad access still crashes.
package func reportStackOverflow(_ message: String) {
    rl_report_stack_overflow(0, message)
}
