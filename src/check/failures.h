// Calls and launches that fail, and what follows from them.
#pragma once

#include "check/result.h"

// After the findings of all runs are united, and those that the user allows are gone.
void heddle_check_failures_settle(heddle_check_result *result);
