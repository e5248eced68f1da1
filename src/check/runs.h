// What the steps of one check share, and the runs of its program: the first, further ones in other orders, and the
// one that counts branches.
#pragma once

#include "check/build.h"
#include "check/columns.h"
#include "check/extension.h"
#include "check/folder.h"
#include "check/operator.h"
#include "check/output.h"
#include "check/suppress.h"

enum { HEDDLE_CHECK_PATH = 1024 };

// Everything that the steps of one check share.
typedef struct heddle_check_state {
    const heddle_check_options *options;
    heddle_check_result *result;
    heddle_check_folder outer;  // what the program must not change is in this one
    heddle_check_folder folder; // inside; the program may write here
    heddle_sandbox sandbox;
    heddle_check_opinion opinion;
    heddle_check_suppressions *suppressions;
    heddle_check_job job;
    bool is_job;
    heddle_check_extension extension;
    bool is_extension;
    char **sources; // absolute
    char driver[HEDDLE_CHECK_PATH];
    const char *only_driver[2]; // of a job: what is built instead of the sources
    char program[HEDDLE_CHECK_PATH];
    heddle_check_columns *columns; // NULL: not known
    heddle_check_output output;    // of the first run
    char *expected;                // NULL: any output is right
    double started;
    const volatile int *stop;       // non-zero: the person wants to stop
    const char *const *environment; // of the program, over ours; NULL: ours
    const char *input;              // file for its standard input; NULL: as the options say
    char unread[32];                // the pipe that was its standard input, if nothing came through it; otherwise ""
    char where[256];                // what the last run was doing when it ended, as a sentence; "": not known
    bool repeats;                   // a command ran the program before: if it fails now, the reason may be another
} heddle_check_state;

// Runs it for the first time and judges how it ended. *regular: by itself, with a report.
heddle_status heddle_check_run_first(heddle_check_state *state, bool *regular);
// Runs a command whose programs leave their reports in this folder. How it ended is in *child.
heddle_status heddle_check_run_command(heddle_check_state *state, const char *reports, heddle_child *child);
// Says in the report, which is from that file, whether a process that the program started called CUDA.
void heddle_check_run_find_child(heddle_check_report *report, const char *path);
// What the source says about a run's report: columns, names.
void heddle_check_run_explain(heddle_check_state *state, heddle_check_report *report);
// The other orders; then, as long as new racing writes turn up, again, in an order in which they race.
heddle_status heddle_check_run_others(heddle_check_state *state);
// Of a program that did not end by itself: once more, as far as it gets, if there are racing writes whose values decide
// between error and warning.
heddle_status heddle_check_run_answers(heddle_check_state *state);
// A run of its own, of a program that was built for it, whose findings and other counts do not count.
heddle_status heddle_check_run_counting(heddle_check_state *state);
// A further run in the first order, whose findings and counts do not count either. `number`: its own, from 0. `copy`:
// for SIM_COPY, or NULL. *report is NULL where it left none.
heddle_status heddle_check_run_beside(heddle_check_state *state, int number, const char *copy,
                                      heddle_check_report **report);
