// How a command is stopped: by Ctrl-C, SIGTERM or a closed terminal. It then ends with exit code 128 plus the signal's
// number, which is 130 after Ctrl-C.
#pragma once

#include <signal.h>
#include <stdbool.h>

// The signal that asks the command to stop; 0: none. A command that stops by itself polls it.
extern volatile sig_atomic_t heddle_cli_interrupted;

// From now on a signal ends the process at once. Signals that the caller ignores, as nohup does, stay ignored.
void heddle_cli_catch_interrupts(void);

// From now on the first signal sets heddle_cli_interrupted, and a second ends the process at once.
typedef struct heddle_cli_gently {
    const char *says;         // on stderr at the first Ctrl-C, which has left its ^C on the line; NULL: nothing
    const char *says_else;    // the same at another signal, which nobody may have typed
    void (*also)(int number); // called at the first signal, in the handler; NULL: nothing
    bool patient;             // further signals do not end the process
} heddle_cli_gently;
void heddle_cli_stop_gently(const heddle_cli_gently *how);

// For work that cannot poll, such as one launch that takes minutes. From _begin to _end the caller holds the turn,
// except in calls that it makes while away. A signal sets heddle_cli_interrupted. If the caller has not ended a moment
// later and is away, take_over(context) runs in another thread and saves what there is, and the process ends.
void heddle_cli_guard_begin(void (*take_over)(void *context), void *context);
void heddle_cli_guard_away(void *unused, bool away); // the signature of heddle_bench_options.away
void heddle_cli_guard_end(void);

enum { HEDDLE_CLI_SIGNALLED = 128 }; // what a shell adds to the number of the signal that ended a program
// That plus the signal's number; 130 if another rank got the signal.
int heddle_cli_interrupt_code(void);
