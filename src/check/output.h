// The program's standard output on its way to ours: carried by a thread, which knows how it ended and can keep it.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "heddle/status.h"

typedef struct heddle_check_output {
    int to;              // where it goes; -1: nowhere
    int source;          // our end
    int program, errors; // the ends of the program: its standard output and error
    bool is_terminal;    // `to` is one, and so is what the program gets
    bool keep;
    char *text; // all of it, if it is kept
    size_t size, room;
    char last;     // byte; 0: there was none
    bool coloured; // it held an escape, so a terminal may not be as it was
    bool too_long; // more than is kept
    bool is_carried;
    volatile int is_over; // the program has ended: what is still under way is all
    pthread_t carrier;
} heddle_check_output;

// `to`, `errors`: file descriptors; -1: nowhere. `keep`: output->text is wanted, which _free releases.
heddle_status heddle_check_output_open(heddle_check_output *output, int to, int errors, bool keep);
// The program was started, or could not be: its ends are not ours any more.
heddle_status heddle_check_output_passed(heddle_check_output *output);
// Waits until everything has arrived.
void heddle_check_output_close(heddle_check_output *output);
// Also of one that no program was started for.
void heddle_check_output_free(heddle_check_output *output);
