// How far a run of the program has come (sim/machine/shown.h).
#pragma once

#include "check/check.h"

typedef struct heddle_check_shown heddle_check_shown;

// Makes the file `path` for the next run. NULL: it cannot be made.
heddle_check_shown *heddle_check_shown_open(const heddle_check_options *options, const char *path);
void heddle_check_shown_look(void *context); // tells who asked
// Where the run is now, or was when it ended, as a sentence; "" where that is not known.
void heddle_check_shown_where(heddle_check_shown *shown, char *text, size_t room);
void heddle_check_shown_close(heddle_check_shown *shown); // the run has ended, and says so too; NULL is allowed
