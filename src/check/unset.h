// Whether a result is made of a local variable that was never set.
#pragma once

#include "check/runs.h"

// Where the runs so far or the compiler suspect it. Builds the program twice more.
heddle_status heddle_check_unset_look(heddle_check_state *state, const char *const *sources);
