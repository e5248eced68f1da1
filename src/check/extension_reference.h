// The Python function of --reference FILE.py:FUNCTION.
#pragma once

#include "check/runs.h"

// Runs it on the inputs, after they were written; its results lie then in the outer folder. Nothing happens if there is
// none. HEDDLE_MISSING: no python3 or no NumPy. HEDDLE_INVALID: the function failed, and the message has its words.
heddle_status heddle_check_extension_reference(heddle_check_state *state);
