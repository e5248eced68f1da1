// How far a run of the program has come (sim/machine/shown.h).
#pragma once

#include "check/check.h"

typedef struct heddle_check_shown heddle_check_shown;

// Makes the file `path` for the next run. NULL: nobody asks, or there is no file.
heddle_check_shown *heddle_check_shown_open(const heddle_check_options *options, const char *path);
void heddle_check_shown_look(void *context);              // tells who asked
void heddle_check_shown_close(heddle_check_shown *shown); // the run has ended, and says so too; NULL is allowed
