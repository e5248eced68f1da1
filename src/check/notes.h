// Notes on what a check did not see: code that was not simulated, a program without kernels, blocks beyond the budget.
#pragma once

#include "check/check.h"
#include "check/result.h"

// After the last run, before the findings are ranked.
heddle_status heddle_check_notes(const heddle_check_options *options, heddle_check_result *result);
