// Runs a program that may do anything: in a process group of its own, with a limit on time and memory, its terminal
// put back as it was, and nothing of it left afterwards, even if it or we are killed.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "check/sandbox.h"
#include "heddle/status.h"
#include "sim/build/keeper.h"

typedef struct heddle_child_options {
    char *const *argv;              // argv[0] is the program's path
    const char *const *environment; // "NAME=VALUE" added to ours; NULL-terminated; may be NULL
    const char *folder;             // to run in; NULL: ours
    int input, output, errors;      // file descriptors; -1: nothing to read, or thrown away
    double seconds;                 // 0: no limit
    uint64_t memory;                // bytes of memory in use; 0: no limit
    bool polite;                    // gives way to other processes
    const heddle_sandbox *sandbox;  // NULL: none
    void (*look)(void *context);    // called many times a second while it runs; may be NULL
    void *look_context;
    const volatile int *stop; // non-zero: the person wants to stop; may be NULL
} heddle_child_options;

typedef enum heddle_child_end {
    HEDDLE_CHILD_RUNNING,
    HEDDLE_CHILD_EXITED,    // code: its exit status
    HEDDLE_CHILD_SIGNALLED, // code: the signal
    HEDDLE_CHILD_TIMED_OUT,
    HEDDLE_CHILD_TOO_LARGE,
    HEDDLE_CHILD_STOPPED, // by `stop`
} heddle_child_end;

typedef struct heddle_child {
    heddle_child_options options;
    pid_t process; // its keeper
    sim_keeper keeper;
    int handle; // a descriptor that says when it has ended; -1: not to be had
    double started, seconds;
    uint64_t most_memory;
    heddle_child_end end;
    int code;
    bool wrapped; // a signal may be an exit status after all: bubblewrap tells of both alike
} heddle_child;

heddle_status heddle_child_start(heddle_child *child, const heddle_child_options *options);
// Waits until it ends, by itself or because of a limit, at most `patience` seconds (negative: no limit). A limit that
// is reached ends the whole group: asked first, so that it can still write its report, then killed.
void heddle_child_wait(heddle_child *child, double patience);
// The program is known to have been about to end by itself, with this status (-1: any). A signal that bubblewrap told
// of was that status, unless the number is another: then it crashed after all.
void heddle_child_exited(heddle_child *child, int status);
// Kills the group and waits for it; nothing happens when it has ended.
void heddle_child_kill(heddle_child *child);

// Three quarters of what this machine, or the control group around us, has.
uint64_t heddle_child_usual_memory(void);
// "SIGSEGV (invalid address)"
const char *heddle_child_signal_name(int signal);
