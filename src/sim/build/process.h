// Child processes: a compiler, with its messages caught.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "build/keeper.h"
#include "rewrite/text.h"

typedef struct sim_process {
    sim_keeper keeper;
    int input, output, errors; // our ends of its pipes; -1: none
} sim_process;

enum { SIM_PIPE_INPUT = 1, SIM_PIPE_OUTPUT = 2, SIM_PIPE_ERRORS = 4 };

// Starts a program, found as the shell would find it. Streams that are not piped are /dev/null, but for errors, which
// are then joined to output. limits: NULL: none. False: errno says why.
bool sim_process_start(sim_process *process, const char *const *arguments, int pipes, const sim_limits *limits);
// Ends of a process that a limit brought about.
enum { SIM_PROCESS_TIMED_OUT = 1 << 16, SIM_PROCESS_TOO_LARGE };
static inline bool sim_process_is_stopped(int status)
{
    return status >= SIM_PROCESS_TIMED_OUT;
}
// Waits for it; its exit status, or 128 + the signal that ended it, or one of these ends; -1: not started.
int sim_process_end(sim_process *process);
// Runs a program to its end; what it writes to either stream is added to messages. Returns what sim_process_end does.
int sim_process_run(const char *const *arguments, sim_text *messages, const sim_limits *limits);
