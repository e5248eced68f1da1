// What the program uses that the simulated GPU computes only up to rounding, or does not simulate at all. Read from the
// source: what is listed may stand in code that did not run.
#pragma once

#include "check/result.h"

// Fills in result->uses from the program's files, and adds a note where a person should know. The list ends with NULL.
heddle_status heddle_check_fidelity_find(heddle_check_result *result, const char *const *sources);
const char *heddle_check_fidelity_name(heddle_check_fidelity fidelity); // "fast-math", "timing", ...
