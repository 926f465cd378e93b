// Checks from outside whether the running thread still makes progress.

#pragma once

/// Returns when the exploration is over, or when its running thread will not hand over again.
void rl_watch(void);
