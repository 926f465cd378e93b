// The code under test ends the process: by a call such as `exit`, or by a crash.

#pragma once

#include "State/state.h"

/// Whether a call of the calling thread would end a process in which an exploration runs.
bool rl_would_end_exploration(void);
/// Reports the call, and ends the process with a status that is not that of a success.
_Noreturn void rl_end_early(const char *call, int status, rl_place place);

/// Between these calls, a crash of the code under test is reported before the process ends. In a
/// child process, the parent reports it.
void rl_begin_reporting_crashes(void);
void rl_end_reporting_crashes(void);
/// Called by the watcher. Reports a crash, if there is one.
void rl_report_crash_if_any(void);
