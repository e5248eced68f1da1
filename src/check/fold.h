// Several races that are one mistake: a kernel that relies on the lanes of a warp running in step, or accesses before
// and after the place where one barrier is missing.
#pragma once

#include "check/result.h"

// Leaves one finding of each such mistake, which says how many lines it concerns.
void heddle_check_fold(heddle_check_result *result);
