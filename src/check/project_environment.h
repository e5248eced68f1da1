// What a project's command finds around it: a toolkit whose nvcc is ours, and folders that it may write in.
#pragma once

#include "check/runs.h"
#include "check/started.h"

enum { HEDDLE_CHECK_PROJECT_FOLDERS = 4 };

typedef struct heddle_check_environment {
    char toolkit[HEDDLE_CHECK_PATH];
    char cache[HEDDLE_CHECK_PATH];                                 // of precompiled headers, for this check alone
    char record[HEDDLE_CHECK_PATH];                                // file that lists what was compiled
    heddle_check_strings variables;                                // "NAME=VALUE"
    char folders[HEDDLE_CHECK_PROJECT_FOLDERS][HEDDLE_CHECK_PATH]; // all may write in these and where they work
    int folder_count;
} heddle_check_environment;

// `build`: another folder that commands and programs may write in.
heddle_status heddle_check_environment_make(heddle_check_environment *environment, const heddle_check_state *state,
                                            const char *build);
void heddle_check_environment_free(heddle_check_environment *environment);

// Contains a command or a program that starts now. `own`: a folder that it alone may write in.
heddle_status heddle_check_environment_sandbox(const heddle_check_environment *environment, const char *own,
                                               const heddle_check_options *options, const heddle_check_output *output,
                                               heddle_sandbox *sandbox);
