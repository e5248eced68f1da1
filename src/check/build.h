// Building the program to check, and asking nvcc what it thinks of the source.
#pragma once

#include "check/check.h"
#include "check/child.h"
#include "check/folder.h"

// Builds `sources` into `program`, with temporary files in `folder`. result->built says whether it worked,
// result->messages what the compiler said.
heddle_status heddle_check_build(const heddle_check_options *options, const char *const *sources,
                                 const heddle_check_folder *folder, const char *program, heddle_check_result *result);

// Builds the program a second time, to count divergent branches. *fine: it worked; else a note says why it did not.
heddle_status heddle_check_build_counting(const heddle_check_options *options, const char *const *sources,
                                          const heddle_check_folder *folder, const char *program,
                                          heddle_check_result *result, bool *fine);

// The same with this value in every local variable that is not initialised: "zero" or "pattern". *fine: it worked;
// older compilers cannot do it.
heddle_status heddle_check_build_filled(const heddle_check_options *options, const char *const *sources,
                                        const heddle_check_folder *folder, const char *program, const char *value,
                                        bool *fine);

// nvcc at work beside the rest.
typedef struct heddle_check_opinion {
    bool asked;
    heddle_child child;
    char output[600]; // the file its messages go to
    // What it was asked with, to ask again: all of it outlives the opinion.
    const heddle_check_options *options;
    const heddle_check_folder *folder;
    const volatile int *stop;
    bool separate; // with -rdc=true
} heddle_check_opinion;

// Finds nvcc on PATH or in /usr/local/cuda and starts it; without one nothing is asked.
heddle_status heddle_check_opinion_ask(heddle_check_opinion *opinion, const heddle_check_options *options,
                                       const heddle_check_folder *folder, const volatile int *stop);
// Waits for the answer and adds what it says to the result; one that does not come in minutes makes the result
// unanswered. A launch in a kernel is where nvcc ends without its flag, so it is asked again with it.
heddle_status heddle_check_opinion_hear(heddle_check_opinion *opinion, heddle_check_result *result);

// The findings in what nvcc printed.
heddle_status heddle_check_opinion_read(const char *text, heddle_check_result *result);
