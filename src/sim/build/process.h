// Child processes: a compiler, with its messages caught.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "rewrite/text.h"

typedef struct sim_process {
    pid_t id;
    int input, output, errors; // our ends of its pipes; -1: none
} sim_process;

enum { SIM_PIPE_INPUT = 1, SIM_PIPE_OUTPUT = 2, SIM_PIPE_ERRORS = 4 };

// Starts a program, found as the shell would find it. Streams that are not piped are /dev/null, but for errors, which
// are then joined to output. False: errno says why.
bool sim_process_start(sim_process *process, const char *const *arguments, int pipes);
// Waits for it; its exit status, or 128 + the signal that ended it.
int sim_process_end(sim_process *process);
// Runs a program to its end; what it writes to either stream is added to messages. The exit status; -1: not started.
int sim_process_run(const char *const *arguments, sim_text *messages);
