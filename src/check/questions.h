// What runs are asked about racing writes: whether they stored the same value, or let a reader wait. A race that shows
// in one order only is asked about in that order.
#pragma once

#include "check/result.h"

typedef struct heddle_check_questions {
    long long *offset; // of the hooks in the program, all that were asked for so far
    size_t count;
    size_t tried[HEDDLE_CHECK_MOST_RUNS]; // by schedule: how many of them its last run was asked about
} heddle_check_questions;

// Adds what the findings so far ask for.
heddle_status heddle_check_questions_gather(heddle_check_questions *asked, const heddle_check_result *result);
// For SIM_VALUES of a run in this order, which counts as tried.
heddle_status heddle_check_questions_write(heddle_check_questions *asked, int schedule, const char *path);
// An order in which a finding was seen that is still open, and which was not run with all the questions; -1: none.
int heddle_check_questions_schedule(const heddle_check_questions *asked, const heddle_check_result *result);
void heddle_check_questions_free(heddle_check_questions *asked);
