// What the checked program reads from its standard input: ours, passed on in the first run and kept, so that further
// runs, and other programs, read the same.
#pragma once

#include <sys/types.h>

#include "heddle/status.h"

typedef struct heddle_check_input {
    char record[600]; // the file that keeps what came through a pipe or from a terminal
    int file;         // for the child; -1: nothing
    pid_t carrier;    // a process that passes it on; 0: none
    char pipe[32];    // through which it does, as /proc names it: "pipe:[1234]"; "": none
} heddle_check_input;

// For run number `run`, counted from 0. heddle_check_input_close ends it. `folder`: for the record; programs must not
// be able to write there.
heddle_status heddle_check_input_open(heddle_check_input *input, const char *folder, int run);
// Opens a file for reading; -1: it is not a regular file. A pipe in its place is not waited for.
int heddle_check_input_file(const char *path);
// After the child has been started: our copy of its descriptor goes.
void heddle_check_input_passed(heddle_check_input *input);
void heddle_check_input_close(heddle_check_input *input);
// After heddle_check_input_close: the name of the pipe, if nothing came through it; otherwise "".
const char *heddle_check_input_unread(const heddle_check_input *input);
