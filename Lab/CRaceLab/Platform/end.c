#include "Platform/end.h"
#include "Platform/recording.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

rl_recorder *rl_recording;

_Noreturn void rl_end_process(const char *sentence, ...) {
    char text[512];
    va_list values;
    va_start(values, sentence);
    const int length = vsnprintf(text, sizeof text - 1, sentence, values);
    va_end(values);
    // In a child process this is not a crash of the code under test.
    if (rl_recording)
        strncpy(rl_recording->lab_ended_it, text, sizeof rl_recording->lab_ended_it - 1);
    size_t count = length < 0 ? 0 : (size_t)length;
    if (count > sizeof text - 2) count = sizeof text - 2;
    text[count++] = '\n';
    const ssize_t written = write(STDERR_FILENO, text, count);
    (void)written;
    abort();
}

_Noreturn void rl_end_without_thread(int error) {
    rl_end_process("RaceLab could not start a thread: %s", strerror(error));
}
