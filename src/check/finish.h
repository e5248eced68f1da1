// The last step of a check: drops what is suppressed or follows from something else, explains the rest, raises warnings
// if strict, ranks and counts.
#pragma once

#include "check/result.h"
#include "check/suppress.h"

// `suppressions`: NULL: none.
void heddle_check_finish(heddle_check_result *result, const heddle_check_suppressions *suppressions, bool strict);
