// How a command is stopped: by Ctrl-C, SIGTERM or a closed terminal. Whatever it does, it then ends with exit code 128
// plus the signal's number, which is 130 after Ctrl-C.
#ifndef HEDDLE_CLI_INTERRUPT_H
#define HEDDLE_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

// The signal that asks the command to stop; 0: none has come. A command that stops by itself looks at it now and then.
extern volatile sig_atomic_t heddle_cli_interrupted;

// From now on a signal ends the process at once. What the caller ignores, as nohup does, stays ignored.
void heddle_cli_catch_interrupts(void);

// From now on the first signal sets heddle_cli_interrupted, and a second ends the process at once.
typedef struct heddle_cli_gently {
    const char *says;         // on stderr at the first signal; NULL: nothing
    void (*also)(int number); // called at the first signal, in the handler; NULL: nothing
    bool patient;             // a second signal ends nothing
} heddle_cli_gently;
void heddle_cli_stop_gently(const heddle_cli_gently *how);

// For work that no flag stops, such as one launch that takes minutes: from _begin to _end the caller has the turn, but
// for calls that it makes while it is away. A signal sets heddle_cli_interrupted; if the caller has not ended a moment
// later and is away, take_over(context) is called in another thread to save what there is, and the process ends.
void heddle_cli_guard_begin(void (*take_over)(void *context), void *context);
void heddle_cli_guard_away(void *unused, bool away); // as heddle_bench_options.away wants it
void heddle_cli_guard_end(void);

enum { HEDDLE_CLI_SIGNALLED = 128 }; // what a shell adds to the number of the signal that ended a program
// That plus the signal's number; 130 where it was another rank that got the signal.
int heddle_cli_interrupt_code(void);

#endif
