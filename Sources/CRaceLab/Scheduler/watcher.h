// Looks from outside whether the running thread still gets on.

#pragma once

/// Returns when the exploration is over, or when its running thread will not hand over any more.
void rl_watch(void);
